import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Flags under which Node.js executes the same instructions every time: one thread, and the same seeds. */
export const repeatable = [
  '--single-threaded',
  '--hash-seed=1',
  '--random-seed=1',
  ...['--require', join(import.meta.dirname, 'stretch-timeouts.cjs')],
];

/** Whether this machine has valgrind, a package of Debian and others. */
export const hasValgrind = async (): Promise<boolean> => {
  try {
    await promisify(execFile)('valgrind', ['--version']);
    return true;
  } catch {
    return false;
  }
};

/**
 * Counts the instructions of a process, in millions, with valgrind's callgrind, which runs it some 50 times slower.
 * `run` gets the program and arguments to put before the process's own. Throws when the process fails.
 */
export const countInstructions = async (
  run: (runner: readonly string[]) => Promise<unknown>,
): Promise<number> => {
  const directory = await mkdtemp(join(tmpdir(), 'animal-store-callgrind-'));
  try {
    const file = join(directory, 'out');
    // V8 writes code while it runs: https://valgrind.org/docs/manual/manual-core.html, --smc-check.
    const options = ['--tool=callgrind', '--smc-check=all-non-file', '--quiet'];
    await run(['valgrind', ...options, `--callgrind-out-file=${file}`]);
    const [, count] = /^(?:summary|totals): (\d+)/m.exec(await readFile(file, 'utf8')) ?? [];
    if (count === undefined) throw new Error('callgrind counted nothing');
    return Number(count) / 1e6;
  } finally {
    await rm(directory, { recursive: true });
  }
};

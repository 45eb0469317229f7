import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { projectDirectory } from '../../infra/build/project-directory.ts';

/** Flags under which Node.js executes the same instructions every time. */
export const repeatable = [
  // Without it, V8 may collect garbage more often, because valgrind makes it slow
  // (`Heap::ShouldResizeNewSpace`).
  '--predictable',
  '--random-seed=1',
  ...['--require', join(projectDirectory, 'infra/local/lambda/stretch-timeouts.cjs')],
];

/** Tells whether this machine has valgrind, which is a package of Debian and other distributions. */
export const hasValgrind = async (): Promise<boolean> => {
  try {
    await promisify(execFile)('valgrind', ['--version']);
    return true;
  } catch {
    return false;
  }
};

/** Lets as many processes run at once as there are processors. Other load changes no count. */
const whenIdle = pLimit(availableParallelism());

/**
 * Counts the millions of instructions of each part of a process, with valgrind's callgrind. Each call of
 * `process.getegid()` begins the next part. `run` gets what to put before the process's own command.
 * Callers need not wait for each other. Throws when the process fails.
 */
export const countInstructions = (
  run: (runner: readonly string[]) => Promise<unknown>,
): Promise<readonly number[]> => whenIdle(() => count(run));

const count = async (
  run: (runner: readonly string[]) => Promise<unknown>,
): Promise<readonly number[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'animal-store-callgrind-'));
  try {
    // V8 writes code while it runs: https://valgrind.org/docs/manual/manual-core.html, --smc-check.
    const options = ['--tool=callgrind', '--smc-check=all-non-file', '--dump-before=getegid'];
    const file = join(directory, 'out');
    await run(['valgrind', ...options, '--quiet', `--callgrind-out-file=${file}`]);
    // out.1, out.2 and so on, and last out.
    const parts = (await readdir(directory)).sort((a, b) => partOf(a) - partOf(b));
    return await Promise.all(
      parts.map(async (part) => countOf(await readFile(join(directory, part), 'utf8'))),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
};

const partOf = (file: string) => Number(file.split('.')[1] ?? Number.POSITIVE_INFINITY);

const countOf = (profile: string) => {
  const [, count] = /^(?:summary|totals): (\d+)/m.exec(profile) ?? [];
  if (count === undefined) throw new Error('callgrind counted nothing');
  return Number(count) / 1e6;
};

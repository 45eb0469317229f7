import { execFile } from 'node:child_process';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { type LambdaProcess, lambdaFlags, runLambda } from '../support/lambda-process.ts';
import type { Contender } from './contenders.ts';

/**
 * Those of Lambda, and those under which Node.js executes the same instructions every time. Others, such as
 * `--single-threaded`, would change which code caches V8 accepts.
 */
const flags = [
  ...lambdaFlags,
  '--predictable',
  '--random-seed=1',
  ...['--require', join(projectDirectory, 'infra/build/stretch-timeouts.cjs')],
];

/** Lets as many processes run at once as there are processors. */
const whenIdle = pLimit(availableParallelism());

/** A function, and what is done with it. */
export type Run = Contender & Pick<LambdaProcess, 'environment' | 'events' | 'warm'>;

/**
 * Runs a function on valgrind's callgrind. Returns the millions of instructions of each part of the process;
 * each call of `process.getegid()` begins the next part. The wrapper of the function is not among them.
 * Callers need not wait for each other. Throws when the function fails, or V8 does something else with its
 * code cache than expected.
 */
export const countInstructions = ({ wrapper, codeCache, ...given }: Run): Promise<number[]> =>
  callgrind('getegid', async (valgrind) => {
    // The wrapper starts valgrind as if it were Node.js, because valgrind counts no child process.
    const node = [...(wrapper ? [wrapper] : []), ...valgrind, process.execPath];
    const report = await runLambda({ ...given, flags, node });
    const statuses = report.invocations.map(({ statusCode }) => statusCode);
    if (statuses.some((status) => status >= 300) || report.codeCache !== codeCache)
      throw new Error(`${given.module} responds with ${statuses}; code cache: ${report.codeCache}`);
  });

/** Returns the millions of instructions of a wrapper until it starts Node.js. */
export const countWrapper = async (wrapper: string): Promise<number> => {
  const [untilStart = Number.NaN] = await callgrind(
    'execve',
    async ([program = '', ...options]) => {
      await promisify(execFile)(program, [...options, wrapper, 'true', ...lambdaFlags]);
    },
  );
  return untilStart;
};

/**
 * Runs something on callgrind, whose command it gets. Returns the millions of instructions of each part; each
 * call of a function of the C library begins the next part.
 */
const callgrind = (
  nextPart: string,
  run: (valgrind: readonly string[]) => Promise<void>,
): Promise<number[]> =>
  whenIdle(async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-callgrind-'));
    await run([
      ...['valgrind', '--tool=callgrind', '--quiet', `--dump-before=${nextPart}`],
      // V8 writes code while it runs: https://valgrind.org/docs/manual/manual-core.html
      '--smc-check=all-non-file',
      `--callgrind-out-file=${join(directory.path, 'out')}`,
    ]);
    // out.1, out.2 and so on, and last out.
    const parts = (await readdir(directory.path)).sort((a, b) => partOf(a) - partOf(b));
    const profiles = await Promise.all(
      parts.map((part) => readFile(join(directory.path, part), 'utf8')),
    );
    // The last one is empty if the process became another program.
    return profiles.filter((profile) => profile !== '').map(countOf);
  });

const partOf = (file: string) => Number(file.split('.')[1] ?? Number.POSITIVE_INFINITY);

const countOf = (profile: string) => {
  const [, count] = /^(?:summary|totals): (\d+)/m.exec(profile) ?? [];
  if (count === undefined) throw new Error('callgrind counted nothing');
  return Number(count) / 1e6;
};

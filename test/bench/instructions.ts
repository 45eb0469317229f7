import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { type LambdaProcess, lambdaFlags, runLambda } from '../support/lambda-process.ts';

/** Those of Lambda, and those under which Node.js executes the same instructions every time. */
const flags = [
  ...lambdaFlags,
  '--predictable',
  '--random-seed=1',
  ...['--require', join(projectDirectory, 'infra/local/lambda/stretch-timeouts.cjs')],
];

/** Lets as many processes run at once as there are processors. */
const whenIdle = pLimit(availableParallelism());

/**
 * Runs a function on valgrind's callgrind. Returns the millions of instructions of each part of the process;
 * each call of `process.getegid()` begins the next part. Callers need not wait for each other. Throws when
 * the function fails.
 */
export const countInstructions = ({ node = [], ...given }: LambdaProcess): Promise<number[]> =>
  whenIdle(async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-callgrind-'));
    const valgrind = [
      ...['valgrind', '--tool=callgrind', '--quiet', '--dump-before=getegid'],
      // V8 writes code while it runs: https://valgrind.org/docs/manual/manual-core.html
      '--smc-check=all-non-file',
      `--callgrind-out-file=${join(directory.path, 'out')}`,
    ];
    // A wrapper starts valgrind as if it were Node.js, because valgrind counts no child process. So it isn't
    // counted itself; it takes 0.1 % of a cold start.
    const command = [...node.slice(0, -1), ...valgrind, process.execPath];
    const { invocations } = await runLambda({ ...given, flags, node: command });
    const statuses = invocations.map(({ statusCode }) => statusCode);
    if (statuses.some((status) => status >= 300))
      throw new Error(`${given.module} responds with ${statuses}`);
    // out.1, out.2 and so on, and last out.
    const parts = (await readdir(directory.path)).sort((a, b) => partOf(a) - partOf(b));
    const profiles = parts.map((part) => readFile(join(directory.path, part), 'utf8'));
    return (await Promise.all(profiles)).map(countOf);
  });

const partOf = (file: string) => Number(file.split('.')[1] ?? Number.POSITIVE_INFINITY);

const countOf = (profile: string) => {
  const [, count] = /^(?:summary|totals): (\d+)/m.exec(profile) ?? [];
  if (count === undefined) throw new Error('callgrind counted nothing');
  return Number(count) / 1e6;
};

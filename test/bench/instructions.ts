import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { type LambdaProcess, lambdaFlags, runLambda } from '../support/lambda-process.ts';

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

/** Lets as many processes run at once as there are processors. Other load changes no count. */
const whenIdle = pLimit(availableParallelism());

/**
 * Runs a function on valgrind's callgrind. Returns the millions of instructions of each part of the process;
 * each call of `process.getegid()` begins the next part. Callers need not wait for each other. Throws when
 * the function fails, or V8 does something else with its code cache than expected.
 */
export const countInstructions = (
  given: LambdaProcess & { readonly codeCache: string | undefined },
): Promise<readonly number[]> => whenIdle(() => count(given));

const count = async ({
  codeCache,
  ...given
}: Parameters<typeof countInstructions>[0]): Promise<readonly number[]> => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-callgrind-'));
  // V8 writes code while it runs: https://valgrind.org/docs/manual/manual-core.html, --smc-check.
  const options = ['--tool=callgrind', '--smc-check=all-non-file', '--dump-before=getegid'];
  const output = `--callgrind-out-file=${join(directory.path, 'out')}`;
  const node = ['valgrind', ...options, '--quiet', output, process.execPath];
  const report = await runLambda({ ...given, flags, node });
  const statuses = report.invocations.map(({ statusCode }) => statusCode);
  if (statuses.some((status) => status >= 300) || report.codeCache !== codeCache)
    throw new Error(`${given.module} responds with ${statuses}; code cache: ${report.codeCache}`);
  // out.1, out.2 and so on, and last out.
  const parts = (await readdir(directory.path)).sort((a, b) => partOf(a) - partOf(b));
  return await Promise.all(
    parts.map(async (part) => countOf(await readFile(join(directory.path, part), 'utf8'))),
  );
};

const partOf = (file: string) => Number(file.split('.')[1] ?? Number.POSITIVE_INFINITY);

const countOf = (profile: string) => {
  const [, count] = /^(?:summary|totals): (\d+)/m.exec(profile) ?? [];
  if (count === undefined) throw new Error('callgrind counted nothing');
  return Number(count) / 1e6;
};

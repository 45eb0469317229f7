import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import {
  bundleDirectory,
  bundleFunctions,
  bundleOptions,
  entryModule,
} from '../../infra/build/bundle-functions.ts';
import { bundleName, execWrapper } from '../../infra/settings/names.ts';
import type { OperationName } from '../../lib/contract/routes.ts';
import { operations } from '../../lib/operations/operations.ts';
import { DynamodbStandIn } from '../support/dynamodb-stand-in.ts';
import { exampleRequest } from '../support/events.ts';
import { type LambdaProcess, lambdaFlags, runLambda } from '../support/lambda-process.ts';
import { countInstructions } from './instructions.ts';

/** What this service may take, as a multiple of a signed request that is built like it. */
const limits = { coldStart: 1.62, warmRequest: 1.81 };

const { values } = parseArgs({ options: { gate: { type: 'boolean', default: false } } });

await using directory = await mkdtempDisposable(join(tmpdir(), 'animal-store-bench-'));
await using standIn = await DynamodbStandIn.start();
const outdir = directory.path;

/** Builds the programs as this project deploys functions, and with esbuild's defaults. */
const buildAll = async () => {
  const { absWorkingDir, platform } = bundleOptions;
  const usual = { absWorkingDir, platform, bundle: true, minify: true } as const;
  const signedRequest = { in: 'test/bench/signed-request.ts', out: 'signed-request' };
  const outExtension = { '.js': '.cjs' };
  await bundleFunctions();
  await build({ ...bundleOptions, entryPoints: [signedRequest], entryNames: '[name]', outdir });
  await writeFile(join(outdir, 'signed-request.mjs'), entryModule('signed-request'));
  const entryPoints = [
    { in: 'functions/get-pet.ts', out: 'usual-get-pet' },
    { ...signedRequest, out: 'usual-signed-request' },
  ];
  await build({ ...usual, entryPoints, outExtension, outdir });
};

/** A program that handles the example request of an operation. */
const handling = (module: string, operation: OperationName, node = [process.execPath]) => ({
  module,
  node,
  environment: standIn.environment,
  events: [exampleRequest(operation, standIn.apiKey).event],
});

const withWrapper = [join(bundleDirectory('get-pet'), execWrapper), process.execPath];

const service = (operation: OperationName, node = withWrapper) => {
  const name = bundleName(operation);
  return handling(join(bundleDirectory(name), `${name}.mjs`), operation, node);
};
const signedRequest = handling(join(outdir, 'signed-request.mjs'), 'getPet', withWrapper);

/** The millions of instructions from the start of the process to the first response over TLS. */
const coldStart = async (program: LambdaProcess) =>
  (await countInstructions(program)).reduce((sum, part) => sum + part, 0);

const invocationsOfRun = 50;
const runs = 16;
const bestRuns = 4;

/**
 * The millions of instructions of an invocation that V8 has optimised: the mean of 50, in the best 4 of 16
 * runs, after 1,500 others. If only the best run counted, two measurements of one program could differ by 3 %.
 */
const warmRequest = async (program: LambdaProcess) => {
  const warm = { warmUps: 1_500, runs, invocationsOfRun };
  // The first parts are the start and the warm-up, and the last one is the end. In other runs, V8 compiles,
  // has not compiled yet, or collects garbage.
  const parts = (await countInstructions({ ...program, warm })).slice(-runs - 1, -1);
  const best = parts.toSorted((one, other) => one - other).slice(0, bestRuns);
  return best.reduce((sum, part) => sum + part, 0) / (bestRuns * invocationsOfRun);
};

/** The least CPU time of 20 cold starts of each program in ms. They alternate, as the load changes. */
const cpuTimes = async (programs: readonly LambdaProcess[]) => {
  const least = programs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 20; round += 1)
    for (const [index, program] of programs.entries()) {
      const { cpuMs } = await runLambda({ ...program, flags: lambdaFlags });
      least[index] = Math.min(cpuMs, least[index] ?? cpuMs);
    }
  return least;
};

const table = (...rows: readonly (readonly (string | number)[])[]) => {
  const [head = '', ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body, ''].join('\n');
};

/** Counts the instructions of the service and of a signed request, with the limit of their ratio. */
const compareWithSignedRequest = () => {
  const signedColdStart = coldStart(signedRequest);
  const coldStarts = operations.map(async ({ name }) => ({
    what: `Cold start of ${name}`,
    own: await coldStart(service(name)),
    other: await signedColdStart,
    limit: limits.coldStart,
  }));
  const warm = async () => ({
    // The counts of lists differ too much between runs.
    what: 'Warm invocation of getPet',
    own: await warmRequest(service('getPet')),
    other: await warmRequest(signedRequest),
    limit: limits.warmRequest,
  });
  return Promise.all([...coldStarts, warm()]);
};

/** Compares cold starts of getPet with what is built and started as usual. */
const compareBuilds = async () => {
  const programs = new Map([
    ['This service', service('getPet')],
    ['The same function, started as usual', service('getPet', [process.execPath])],
    [
      'The same function, built and started as usual',
      handling(join(outdir, 'usual-get-pet.cjs'), 'getPet'),
    ],
    [
      'Only a signed request to DynamoDB, built as usual',
      handling(join(outdir, 'usual-signed-request.cjs'), 'getPet'),
    ],
    ['Only a signed request to DynamoDB, built like this service', signedRequest],
  ]);
  const each = [...programs.values()];
  const counts = await Promise.all(each.map(coldStart));
  // Nothing else may run meanwhile.
  const times = await cpuTimes(each);
  return table(
    ['Cold start of getPet, up to the first response', 'CPU time', 'Instructions'],
    ...[...programs.keys()].map((name, index) => [
      name,
      `${times[index]?.toFixed(0)} ms`,
      `${counts[index]?.toFixed(0)} million`,
    ]),
  );
};

await buildAll();
const comparisons = await compareWithSignedRequest();
console.log(
  table(
    ['Millions of instructions', 'this service', 'a signed request', 'ratio', 'at most'],
    ...comparisons.map(({ what, own, other, limit }) => [
      what,
      own.toFixed(2),
      other.toFixed(2),
      (own / other).toFixed(3),
      limit,
    ]),
  ),
);
if (!values.gate) console.log(await compareBuilds());
for (const { what, own, other, limit } of comparisons)
  if (own > limit * other) {
    process.exitCode = 1;
    console.error(
      `error: ${what} takes more than ${limit} times the instructions of a signed request. Find out what made it dearer, or say in your commit why this is worth a higher limit in test/bench/run.ts.`,
    );
  }

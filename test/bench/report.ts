import { prices } from '../../infra/cost/prices.ts';
import type { ContenderName } from './contenders.ts';
import type { RequestName } from './requests.ts';
import type { Results } from './results.ts';
import { ratioOf, type Samples, samplesOf } from './samples.ts';

/** The names of the contenders in tables and in the chart. */
export const labels: Readonly<Record<ContenderName, string>> = {
  empty: 'Empty handler',
  bare: 'Bare handler (L)',
  sdkCall: 'Document-client call',
  service: 'This service',
  notWarmedUp: 'This service, no INIT warm-up',
  ordinary: 'This service, esbuild’s defaults',
  hono: 'Hono',
  powertools: 'Powertools event handler',
  express: 'Express',
  fastify: 'Fastify',
};

/** A figure with a bar. For a ratio of CPU times, its whole 95 % interval must be within the bar. */
interface Figure {
  readonly figure: string;
  /** Absent where it was not measured. */
  readonly value: Samples | undefined;
  readonly bar: number;
  readonly isMet: boolean;
}

const find = <Row>(rows: readonly Row[], matches: (row: Row) => boolean): Row => {
  const row = rows.find(matches);
  if (row === undefined) throw new Error('The results lack a row');
  return row;
};

const single = (value: number): Samples => ({ median: value, min: value, max: value });

/**
 * Cold instructions of the service over those of another contender; absent where none were counted. A cold start has one
 * of two counts, 3 million apart; the highest of three runs is nearly always the larger, so the ratio is steady.
 */
export const coldRatio = (
  { coldInstructions }: Pick<Results, 'coldInstructions'>,
  request: RequestName,
  other: ContenderName,
): Samples | undefined => {
  const counted = coldInstructions.filter((row) => row.request === request);
  if (counted.length === 0) return undefined;
  const highest = (name: ContenderName) => find(counted, (row) => row.name === name).millions.max;
  return single(highest('service') / highest(other));
};

const warmInstructions = ({ warm }: Results, contender: ContenderName, wanted: RequestName) =>
  find(warm, ({ name, request }) => name === contender && request === wanted).instructions;

const warmRatio = (results: Results, request: RequestName): Samples | undefined => {
  const [service, call] = (['service', 'sdkCall'] as const).map((name) =>
    warmInstructions(results, name, request),
  );
  return service === undefined || call === undefined ? undefined : single(service / call);
};

const cpuOf = ({ coldCpu }: Results, name: ContenderName) =>
  find(coldCpu, (row) => row.name === name);

/** The budget of the service and what was measured: instructions, unless the figure says otherwise. */
export const budgetOf = (results: Results): readonly Figure[] => {
  const cold = (request: RequestName, other: ContenderName) =>
    [`cold ${request} / ${labels[other]}`, coldRatio(results, request, other)] as const;
  const kilobytes = (functionName: RegExp, size: 'bytes' | 'gzipBytes') =>
    single(
      Math.max(
        ...results.bundles
          .filter((row) => row.name === 'service' && functionName.test(row.functionName))
          .map((row) => row[size] / 1_000),
      ),
    );
  const firstInvocation = (name: ContenderName) => cpuOf(results, name).firstInvocation;
  const figures: readonly (readonly [string, Samples | undefined, bar: number])[] = [
    [...cold('getPet', 'sdkCall'), 1.1],
    [...cold('createPet', 'sdkCall'), 1.15],
    [...cold('listPets', 'sdkCall'), 1.15],
    [...cold('getPet', 'bare'), 1.6],
    [...cold('createPet', 'bare'), 1.68],
    [...cold('listPets', 'bare'), 1.68],
    [...cold('getPet', 'hono'), 0.61],
    [...cold('getPet', 'powertools'), 0.61],
    [...cold('getPet', 'express'), 0.42],
    [...cold('getPet', 'fastify'), 0.38],
    [
      'first invocation after the INIT warm-up / without the warm-up, CPU time',
      ratioOf(firstInvocation('service'), firstInvocation('notWarmedUp')),
      0.28,
    ],
    ['largest bundle, KB', kilobytes(/./, 'bytes'), 184],
    ['largest bundle, gzipped, KB', kilobytes(/./, 'gzipBytes'), 60],
    ['bundle of unrouted, KB', kilobytes(/^unrouted$/, 'bytes'), 18],
    [`warm getPet / ${labels.sdkCall}`, warmRatio(results, 'getPet'), 1.1],
    [`warm list of 100 / ${labels.sdkCall}`, warmRatio(results, 'listPetsOf100'), 1.2],
    ['failures of test/service/dynamodb-cost.test.ts', single(results.costsAsPromised ? 0 : 1), 0],
  ];
  return figures.map(([figure, value, bar]) => ({
    figure,
    value,
    bar,
    isMet: value !== undefined && value.max <= bar,
  }));
};

type Cell = string | number;

const markdownTable = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const range = ({ median, min, max }: Samples, digits: number) => {
  const [lowest, highest] = [min.toFixed(digits), max.toFixed(digits)];
  return lowest === highest ? lowest : `${median.toFixed(digits)} (${lowest}–${highest})`;
};

const shownValue = ({ value, bar }: Figure) =>
  value ? range(value, bar < 10 && bar > 0 ? 3 : 0) : 'not measured';

const verdictOf = ({ value, isMet }: Figure) =>
  isMet ? 'met' : value ? '**not met**' : 'not measured';

/** A row for each contender, a column for each request. */
const coldTable = ({ coldInstructions }: Results) => {
  const byRequest = Map.groupBy(coldInstructions, ({ request }) => request);
  const byName = Map.groupBy(coldInstructions, ({ name }) => name);
  return markdownTable(
    ['', ...byRequest.keys()],
    [...byName].map(([name, rows]) => [
      labels[name],
      ...rows.map(({ millions }) => range(millions, 1)),
    ]),
  );
};

const cpuTable = (results: Results) =>
  markdownTable(
    ['', 'ms until the first answer / L', 'ms after INIT / no warm-up'],
    results.coldCpu.map(({ name, untilFirstAnswer, firstInvocation }) => [
      labels[name],
      range(ratioOf(untilFirstAnswer, cpuOf(results, 'bare').untilFirstAnswer), 2),
      range(ratioOf(firstInvocation, cpuOf(results, 'notWarmedUp').firstInvocation), 2),
    ]),
  );

const warmTable = ({ warm }: Results) =>
  markdownTable(
    ['', 'request', 'instructions', 'CPU µs'],
    warm.map(({ name, request, instructions, cpuMicroseconds }) => [
      labels[name],
      request,
      instructions === undefined ? 'not measured' : Math.round(instructions).toLocaleString('en'),
      cpuMicroseconds.toFixed(0),
    ]),
  );

/** Lambda gives a function CPU time in proportion to its memory: one vCPU at 1,769 MiB. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const vcpuMiB = 1_769;
const memorySizes = [128, 256, 512, 1_024, 1_769];

/**
 * What the CPU time of a cold and of a warm getPet takes at each memory size, and what a million of them cost. Computed
 * from instructions, at the instructions a millisecond that this machine executed in the same cold start.
 */
const memoryTable = (results: Results) => {
  const cold = find(
    results.coldInstructions,
    ({ name, request }) => name === 'service' && request === 'getPet',
  ).millions.median;
  const coldMs = samplesOf(cpuOf(results, 'service').untilFirstAnswer).median;
  const warm = warmInstructions(results, 'service', 'getPet') ?? 0;
  const warmMs = (warm / 1e6 / cold) * coldMs;
  return markdownTable(
    ['MiB', 'cold, ms of CPU time', 'warm, ms of CPU time', 'a million warm, with 5 ms of waiting'],
    memorySizes.map((size) => {
      const share = Math.min(1, size / vcpuMiB);
      const gibSeconds = (size / 1_024) * ((warmMs / share + waitingMs) / 1_000) * 1e6;
      const usd = (gibSeconds / prices.lambdaArm.units) * prices.lambdaArm.usd;
      return [size, (coldMs / share).toFixed(0), (warmMs / share).toFixed(1), `$${usd.toFixed(2)}`];
    }),
  );
};

/** What a warm request waits for DynamoDB, in ms: assumed. */
const waitingMs = 5;

const bundleTable = ({ bundles }: Results) =>
  markdownTable(
    ['', 'largest bundle, bytes', 'gzipped'],
    [...Map.groupBy(bundles, ({ name }) => name)].map(([name, rows]) => [
      labels[name],
      Math.max(...rows.map(({ bytes }) => bytes)),
      Math.max(...rows.map(({ gzipBytes }) => gzipBytes)),
    ]),
  );

/** The text of RESULT.md. */
export const report = (results: Results): string => `# Results

\`npm run bench\` wrote this on ${results.machine}, Node.js ${results.node}. [README.md](README.md) explains each figure.

## Budget

${markdownTable(
  ['figure', 'bar', 'measured', ''],
  budgetOf(results).map((row) => [row.figure, row.bar, shownValue(row), verdictOf(row)]),
)}

## Cold start, millions of instructions

${results.coldInstructions.length > 0 ? coldTable(results) : 'Not measured without valgrind.'}

## CPU time of a cold getPet

${cpuTable(results)}

## Warm invocations

${warmTable(results)}

## Memory size

${results.coldInstructions.length > 0 ? memoryTable(results) : 'Not computed without valgrind.'}

## Bundles

${bundleTable(results)}
`;

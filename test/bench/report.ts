import type { ContenderName } from './contenders.ts';
import type { RequestName } from './requests.ts';
import type { GatedResults, Results } from './results.ts';
import { ratioOf, type Samples, samplesOf } from './samples.ts';

/** The names of the contenders in tables and in the chart. */
export const labels: Readonly<Record<ContenderName, string>> = {
  empty: 'empty handler',
  bare: 'L',
  sdkCall: 'document-client call',
  service: 'this service',
  notWarmedUp: 'without warm-up',
  ordinary: 'esbuild’s defaults',
  hono: 'Hono',
  powertools: 'Powertools',
};

/** A figure with a bar. For a ratio of CPU times, its whole 95 % interval must be within the bar. */
interface Figure {
  readonly figure: string;
  readonly bar: number;
  /** The value; NaN where it was not measured. */
  readonly value: Samples;
  readonly isMet: boolean;
}

const single = (value: number): Samples => ({ median: value, min: value, max: value });

const coldMillions = (
  { coldInstructions }: Pick<GatedResults, 'coldInstructions'>,
  request: RequestName,
  name: ContenderName,
) =>
  coldInstructions.find((row) => row.request === request && row.name === name)?.millions.median ??
  Number.NaN;

/**
 * Returns the ratio of the service's cold instructions to those of another contender; NaN
 * where none were counted.
 */
export const coldRatio = (
  results: Pick<GatedResults, 'coldInstructions'>,
  request: RequestName,
  other: ContenderName,
): number => coldMillions(results, request, 'service') / coldMillions(results, request, other);

const warmInstructions = ({ warm }: Results, name: ContenderName, request: RequestName) =>
  warm.find((row) => row.name === name && row.request === request)?.instructions ?? Number.NaN;

const cpuOf = ({ coldCpu }: Results, contender: ContenderName) => {
  const row = coldCpu.find(({ name }) => name === contender);
  if (!row) throw new Error(`No CPU time of ${contender} was measured`);
  return row;
};

/** The budget of the service and what was measured: instructions, unless the figure says otherwise. */
const budgetOf = (results: Results): readonly Figure[] => {
  const figureOf = (figure: string, bar: number, measured: number | Samples): Figure => {
    const value = typeof measured === 'number' ? single(measured) : measured;
    return { figure, bar, value, isMet: value.max <= bar };
  };
  const cold = (request: RequestName, other: ContenderName, bar: number) =>
    figureOf(`cold ${request}/${labels[other]}`, bar, coldRatio(results, request, other));
  const warm = (figure: string, request: RequestName, bar: number) => {
    const ofService = warmInstructions(results, 'service', request);
    const ratio = ofService / warmInstructions(results, 'sdkCall', request);
    return figureOf(`warm ${figure}/${labels.sdkCall}`, bar, ratio);
  };
  const kilobytes = (size: 'bytes' | 'gzipBytes', functionName = /./) =>
    Math.max(
      ...results.bundles
        .filter((row) => functionName.test(row.functionName))
        .map((row) => row[size] / 1_000),
    );
  const firstOf = (name: ContenderName) => cpuOf(results, name).firstInvocation;
  return [
    cold('getPet', 'sdkCall', 1.1),
    cold('createPet', 'sdkCall', 1.15),
    cold('listPets', 'sdkCall', 1.15),
    cold('getPet', 'bare', 1.6),
    cold('createPet', 'bare', 1.68),
    cold('listPets', 'bare', 1.68),
    cold('getPet', 'hono', 0.61),
    cold('getPet', 'powertools', 0.61),
    figureOf(
      'first invocation/without warm-up, CPU time',
      0.28,
      ratioOf(firstOf('service'), firstOf('notWarmedUp')),
    ),
    figureOf('largest bundle, KB', 184, kilobytes('bytes')),
    figureOf('largest bundle, gzipped, KB', 60, kilobytes('gzipBytes')),
    figureOf('unrouted bundle, KB', 18, kilobytes('bytes', /^unrouted$/)),
    warm('getPet', 'getPet', 1.1),
    warm('list of 100', 'listPetsOf100', 1.2),
    figureOf('failures of dynamodb-cost.test.ts', 0, results.costsAsPromised ? 0 : 1),
  ];
};

const markdownTable = (rows: readonly (readonly (string | number)[])[]): string => {
  const [head = '', ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n');
};

const range = ({ median, min, max }: Samples, digits: number) => {
  const [lowest, highest] = [min.toFixed(digits), max.toFixed(digits)];
  return lowest === highest ? lowest : `${median.toFixed(digits)} (${lowest}–${highest})`;
};

const budgetTable = (results: Results) =>
  markdownTable([
    ['figure', 'bar', 'measured', ''],
    ...budgetOf(results).map(({ figure, value, bar, isMet }) => {
      if (Number.isNaN(value.median)) return [figure, bar, 'not measured', ''];
      const digits = bar < 10 && bar > 0 ? 3 : 0;
      return [figure, bar, range(value, digits), isMet ? 'met' : '**missed**'];
    }),
  ]);

const wholeOrEmpty = (value: number) => (Number.isNaN(value) ? '' : value.toFixed(0));

/** A row for each contender: instructions of each cold request, and CPU time. */
const coldTable = (results: Results) => {
  const requests = [...new Set(results.coldInstructions.map(({ request }) => request))];
  const startOf = (name: ContenderName) => cpuOf(results, name).untilFirstAnswer;
  return markdownTable([
    ['', ...requests, 'CPU/L'],
    ...results.coldCpu.map(({ name }) => [
      labels[name],
      ...requests.map((request) => wholeOrEmpty(coldMillions(results, request, name))),
      ratioOf(startOf(name), startOf('bare')).median.toFixed(2),
    ]),
  ]);
};

/**
 * Lambda gives a function CPU time in proportion to its memory: one vCPU at 1,769 MiB.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
const vcpuMiB = 1_769;
const memorySizes = [128, 256, 512, 1_024, 1_769];

/**
 * The list price of arm64 in eu-west-1 on 1 October 2026, in US dollars:
 * https://aws.amazon.com/lambda/pricing/
 */
const usdPerGibSecond = 0.0000133334;

/** How long a warm request waits for DynamoDB, in ms. This is an assumption. */
const waitingMs = 5;

/**
 * How long a cold and a warm getPet compute at each memory size, and what a million warm ones cost. The cold
 * time is measured. The warm time is computed from instructions, at the cold start's rate per ms.
 */
const memoryTable = (results: Results) => {
  const coldMs = samplesOf(cpuOf(results, 'service').untilFirstAnswer).median;
  const warmMillions = warmInstructions(results, 'service', 'getPet') / 1e6;
  const warmMs = (warmMillions / coldMillions(results, 'getPet', 'service')) * coldMs;
  return markdownTable([
    ['MiB', 'cold, ms', 'warm, ms', 'per million'],
    ...memorySizes.map((size) => {
      const share = Math.min(1, size / vcpuMiB);
      const gibSeconds = (size / 1_024) * ((warmMs / share + waitingMs) / 1_000) * 1e6;
      const usd = gibSeconds * usdPerGibSecond;
      return [size, (coldMs / share).toFixed(0), (warmMs / share).toFixed(1), `$${usd.toFixed(2)}`];
    }),
  ]);
};

/** Returns the text of RESULT.md. */
export const report = (results: Results): string => `# Results

By \`npm run bench\` on ${results.machine}, Node.js ${results.node}. [Explained here](README.md).

${budgetTable(results)}

## Cold start, millions of instructions

${coldTable(results)}

## Memory size, in CPU time

${memoryTable(results)}
`;

import type { ContenderName } from './contenders.ts';
import type { RequestName } from './requests.ts';
import type { GatedResults, Results } from './results.ts';
import { ratioOf, type Samples } from './samples.ts';

/** The names of the contenders in tables and in the chart. */
export const labels: Readonly<Record<ContenderName, string>> = {
  empty: 'empty handler',
  bareCached: 'L, cached',
  bare: 'L',
  sdkCallCached: 'document-client call, cached',
  sdkCall: 'document-client call',
  hit: 'this service, cached',
  absent: 'without cache',
  rejected: 'with a rejected cache',
  hono: 'Hono',
  powertools: 'Powertools',
};

/** A figure with a bar. For a ratio of CPU times, its whole 95 % interval must be within the bar. */
interface Figure {
  readonly figure: string;
  readonly bar: number;
  /** NaN where it was not measured. */
  readonly value: Samples;
  readonly isMet: boolean;
}

const single = (value: number): Samples => ({ median: value, min: value, max: value });

const coldOf = (
  { coldInstructions }: Pick<GatedResults, 'coldInstructions'>,
  request: RequestName,
  name: ContenderName,
) =>
  coldInstructions.find((row) => row.request === request && row.name === name) ?? {
    millions: Number.NaN,
    firstInvocation: Number.NaN,
  };

/** Cold instructions of one contender over those of another, NaN where none were counted. */
export const coldRatio = (
  results: Pick<GatedResults, 'coldInstructions'>,
  request: RequestName,
  name: ContenderName,
  other: ContenderName,
): number => coldOf(results, request, name).millions / coldOf(results, request, other).millions;

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
  const cold = (request: RequestName, name: ContenderName, other: ContenderName, bar: number) => {
    const ratio = coldRatio(results, request, name, other);
    return figureOf(`cold ${request}: ${labels[name]}/${labels[other]}`, bar, ratio);
  };
  const warm = (figure: string, request: RequestName, bar: number) => {
    const ofService = warmInstructions(results, 'absent', request);
    const ratio = ofService / warmInstructions(results, 'sdkCall', request);
    return figureOf(`warm ${figure}/${labels.sdkCall}`, bar, ratio);
  };
  const kilobytes = (
    size: keyof Omit<Results['bundles'][number], 'functionName'>,
    functionName = /./,
  ) =>
    Math.max(
      ...results.bundles
        .filter((row) => functionName.test(row.functionName))
        .map((row) => row[size] / 1_000),
    );
  const firstOf = (name: ContenderName) => coldOf(results, 'getPet', name).firstInvocation;
  return [
    cold('getPet', 'hit', 'sdkCall', 0.9),
    cold('createPet', 'hit', 'sdkCall', 0.95),
    cold('listPets', 'hit', 'sdkCall', 0.95),
    cold('getPet', 'hit', 'sdkCallCached', 1.15),
    cold('getPet', 'hit', 'bareCached', 1.35),
    cold('getPet', 'hit', 'hono', 0.5),
    cold('getPet', 'hit', 'powertools', 0.5),
    cold('getPet', 'rejected', 'absent', 1.015),
    cold('getPet', 'absent', 'sdkCall', 1.1),
    cold('createPet', 'absent', 'sdkCall', 1.15),
    cold('listPets', 'absent', 'sdkCall', 1.15),
    figureOf(
      `first getPet after INIT: ${labels.hit}/${labels.sdkCall}`,
      0.5,
      firstOf('hit') / firstOf('sdkCall'),
    ),
    figureOf('largest bundle, KB', 184, kilobytes('bytes')),
    figureOf('largest bundle, gzipped, KB', 60, kilobytes('gzipBytes')),
    figureOf('largest code cache, KB', 480, kilobytes('cacheBytes')),
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

/**
 * A row for each contender: instructions of each cold request, those of getPet after INIT, and CPU time.
 */
const coldTable = (results: Results) => {
  const requests = [...new Set(results.coldInstructions.map(({ request }) => request))];
  const startOf = (name: ContenderName) => cpuOf(results, name).untilFirstAnswer;
  return markdownTable([
    ['', ...requests, 'getPet after INIT', 'CPU/L'],
    ...results.coldCpu.map(({ name }) => [
      labels[name],
      ...requests.map((request) => wholeOrEmpty(coldOf(results, request, name).millions)),
      wholeOrEmpty(coldOf(results, 'getPet', name).firstInvocation),
      ratioOf(startOf(name), startOf('bare')).median.toFixed(2),
    ]),
  ]);
};

/** A row for each function: the bytes of its bundle and of its code cache, as they are and gzipped. */
const sizeTable = ({ bundles }: Results) =>
  markdownTable([
    ['KB', 'bundle', 'gzipped', 'code cache', 'gzipped', 'together'],
    ...bundles.map(({ functionName, bytes, gzipBytes, cacheBytes, cacheGzipBytes }) => [
      functionName,
      ...[bytes, gzipBytes, cacheBytes, cacheGzipBytes, bytes + cacheBytes].map((size) =>
        (size / 1_000).toFixed(0),
      ),
    ]),
  ]);

/** The text of RESULT.md. */
export const report = (results: Results): string => `# Results

By \`npm run bench\` on ${results.machine}, Node.js ${results.node}. [Explained here](README.md).

${budgetTable(results)}

## Cold start, millions of instructions

${coldTable(results)}

## What is deployed

${sizeTable(results)}
`;

import { availableParallelism, cpus } from 'node:os';
import type { Build, Program } from './contenders.ts';
import type { ColdStart, WarmInvocation } from './measure.ts';
import { requestNames } from './requests.ts';

/** The names of the programs in tables and in the chart. */
export const labels: Readonly<Record<Program, string>> = {
  empty: 'Empty handler',
  bare: 'L',
  'aws-lite': 'aws-lite',
  'sdk-call': 'Document-client call',
  service: 'This service',
  hono: 'Hono',
  powertools: 'Powertools',
};

export const buildLabels: Readonly<Record<Build, string>> = {
  defaults: 'esbuild’s defaults',
  hit: 'this build, code cache used',
  absent: 'this build, no code cache',
  rejected: 'this build, code cache rejected',
};

/**
 * The most that a cold start of this service may take: a multiple of what another program takes that is built
 * in the same way. If a change exceeds one for a good reason, raise it.
 */
const bars: readonly (readonly [Build, Program, number])[] = [
  ['defaults', 'sdk-call', 1.15],
  ['defaults', 'hono', 1],
  ['defaults', 'powertools', 1],
  ['hit', 'bare', 1.49],
  ['hit', 'sdk-call', 1.15],
  ['hit', 'hono', 1],
  ['hit', 'powertools', 1],
  ['absent', 'bare', 1.99],
];

/** A bar, and what was measured. */
export interface Verdict {
  readonly figure: string;
  readonly bar: number;
  /** In the request for which it is the largest. */
  readonly ratio: number;
  readonly isMet: boolean;
}

/** Compares what was measured with each bar of which all is measured. */
export const verdictsOf = (coldStarts: readonly ColdStart[]): readonly Verdict[] => {
  const millionsOf = (program: Program, build: Build, request: string) =>
    coldStarts.find(
      (row) => row.program === program && row.build === build && row.request === request,
    )?.millions ?? Number.NaN;
  return bars.flatMap(([build, other, bar]) => {
    const ratios = requestNames
      .map((name) => millionsOf('service', build, name) / millionsOf(other, build, name))
      .filter((ratio) => !Number.isNaN(ratio));
    if (ratios.length === 0) return [];
    const ratio = Math.max(...ratios);
    const figure = `${labels.service}/${labels[other]}, ${buildLabels[build]}`;
    return [{ figure, bar, ratio, isMet: ratio <= bar }];
  });
};

const table = (rows: readonly (readonly (string | number)[])[]): string => {
  const [head = '', ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n');
};

/** A table of the bars. */
export const verdictTable = (coldStarts: readonly ColdStart[]): string =>
  table([
    ['figure', 'bar', 'measured', ''],
    ...verdictsOf(coldStarts).map(({ figure, bar, ratio, isMet }) => [
      figure,
      bar,
      ratio.toFixed(3),
      isMet ? 'met' : '**missed**',
    ]),
  ]);

/** A row for each program, with its cold starts when it is built in one way. */
const coldTable = (coldStarts: readonly ColdStart[], build: Build) => {
  const rows = coldStarts.filter((row) => row.build === build);
  const programs = [...new Set(rows.map(({ program }) => program))];
  return table([
    [buildLabels[build], ...requestNames],
    ...programs.map((program) => [
      labels[program],
      ...requestNames.map((request) => {
        const found = rows.find((row) => row.program === program && row.request === request);
        return found ? found.millions.toFixed(0) : '';
      }),
    ]),
  ]);
};

/** The text of RESULT.md. */
export const report = (
  coldStarts: readonly ColdStart[],
  warm: readonly WarmInvocation[],
): string => `# Results

By \`npm run bench\` on ${cpus()[0]?.model.trim()}, ${availableParallelism()} processors, Node.js ${process.version}. [Explained here](README.md).

${verdictTable(coldStarts)}

## Cold start, millions of instructions

${coldTable(coldStarts, 'defaults')}

${coldTable(coldStarts, 'hit')}

${coldTable(coldStarts, 'rejected')}

${coldTable(coldStarts, 'absent')}

## Warm invocation of this service, millions of instructions

${table([warm.map(({ request }) => request), warm.map(({ millions }) => millions.toFixed(2))])}
`;

import { availableParallelism, cpus } from 'node:os';
import type { Build, Program } from './contenders.ts';
import type { Count } from './measure.ts';
import { requestNames } from './requests.ts';

/** The names of the programs in tables. */
const labels: Readonly<Record<Program, string>> = {
  empty: 'Empty handler',
  'bare-sigv4': 'Bare SigV4',
  'sdk-call': 'Document-client call',
  service: 'This service',
};

const buildLabels: Readonly<Record<Build, string>> = {
  defaults: 'esbuild’s defaults',
  hit: 'this build, code cache used',
  absent: 'this build, no code cache',
  rejected: 'this build, code cache rejected',
};

/** The measured cold starts and warm invocations. */
export interface Counts {
  readonly cold: readonly Count[];
  readonly warm: readonly Count[];
}

/**
 * The most that this service may take: a multiple of what another program takes that is built in the same
 * way. If a change exceeds one for a good reason, raise it.
 */
const bars: readonly (readonly [keyof Counts, Build, Program, number])[] = [
  ['cold', 'defaults', 'sdk-call', 1.05],
  ['cold', 'hit', 'bare-sigv4', 1.4],
  ['cold', 'hit', 'sdk-call', 1.07],
  ['cold', 'absent', 'bare-sigv4', 1.94],
  ['warm', 'hit', 'bare-sigv4', 2.1],
  ['warm', 'hit', 'sdk-call', 1.07],
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
export const verdictsOf = (counts: Counts): readonly Verdict[] =>
  bars.flatMap(([start, build, other, bar]) => {
    const millionsOf = (program: Program, request: string) =>
      counts[start].find(
        (row) => row.program === program && row.build === build && row.request === request,
      )?.millions ?? Number.NaN;
    const ratios = requestNames
      .map((name) => millionsOf('service', name) / millionsOf(other, name))
      .filter((ratio) => !Number.isNaN(ratio));
    if (ratios.length === 0) return [];
    const ratio = Math.max(...ratios);
    const figure = `${start}: ${labels.service}/${labels[other]}, ${buildLabels[build]}`;
    return [{ figure, bar, ratio, isMet: ratio <= bar }];
  });

const table = (rows: readonly (readonly (string | number)[])[]): string => {
  const [head = '', ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n');
};

/** A table of the bars. */
const verdictTable = (counts: Counts): string =>
  table([
    ['figure', 'bar', 'measured', ''],
    ...verdictsOf(counts).map(({ figure, bar, ratio, isMet }) => [
      figure,
      bar,
      ratio.toFixed(3),
      isMet ? 'met' : '**missed**',
    ]),
  ]);

/** A row for each program, with its counts when it is built in one way. */
const countTable = (counts: readonly Count[], build: Build, digits: number) => {
  const rows = counts.filter((row) => row.build === build);
  const programs = [...new Set(rows.map(({ program }) => program))];
  return table([
    [buildLabels[build], ...requestNames],
    ...programs.map((program) => [
      labels[program],
      ...requestNames.map((request) => {
        const found = rows.find((row) => row.program === program && row.request === request);
        return found ? found.millions.toFixed(digits) : '';
      }),
    ]),
  ]);
};

/** The tables of a run: the bars, and every figure. */
export const tables = ({ cold, warm }: Counts): string => `${verdictTable({ cold, warm })}

## Cold start, millions of instructions

${[...new Set(cold.map(({ build }) => build))].map((build) => countTable(cold, build, 0)).join('\n\n')}

## Warm invocation, millions of instructions

${countTable(warm, 'hit', 2)}
`;

/** The text of RESULT.md. */
export const report = (counts: Counts): string => `# Results

By \`npm run bench\` on ${cpus()[0]?.model.trim()}, ${availableParallelism()} processors, Node.js ${process.version}. [Explained here](README.md).

${tables(counts)}`;

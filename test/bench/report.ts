import { availableParallelism, cpus } from 'node:os';
import type { Build, Program } from './contenders.ts';
import type { Figure } from './measure.ts';
import { type RequestName, requestNames } from './measured-requests.ts';

/** The names of the programs in tables. */
const labels: Readonly<Record<Program, string>> = {
  empty: 'Empty handler',
  'bare-sigv4': 'Bare SigV4',
  'sdk-call': 'Document-client call',
  service: 'This service',
};

const buildLabels: Readonly<Record<Build, string>> = {
  usual: 'the usual build',
  deployed: 'this build',
  'no-wrapper': 'this build without its wrapper',
  'no-cache': 'this build without a code cache',
};

/** What was measured. */
export interface Measured {
  /** Millions of instructions of a cold start. */
  readonly cold: readonly Figure[];
  /** Millions of instructions of a warm invocation. */
  readonly warm: readonly Figure[];
  /** Milliseconds of CPU time of a cold start. */
  readonly cpu: readonly Figure[];
}

const figureOf = (
  figures: readonly Figure[],
  program: Program,
  build: Build,
  request: RequestName,
) =>
  figures.find(
    (each) => each.program === program && each.build === build && each.request === request,
  )?.value;

/** Cold starts less the start of an empty handler that is built and started in the same way. */
const lessEmpty = (cold: readonly Figure[]): readonly Figure[] =>
  cold
    .filter(({ program }) => program !== 'empty')
    .flatMap((each) => {
      const empty = figureOf(cold, 'empty', each.build, 'getPet');
      return empty === undefined ? [] : { ...each, value: each.value - empty };
    });

/** A bar, and what was measured. */
interface Verdict {
  readonly figure: string;
  /** The most that this service may take, as a multiple of what another program takes. */
  readonly bar: number;
  /** In the operation for which it is the largest. */
  readonly ratio: number;
  readonly isMet: boolean;
}

/** Compares what was measured with the bars. Throws if there is nothing to compare. */
export const verdictsOf = ({ cold, warm }: Measured): readonly Verdict[] => {
  const verdict = (
    figure: string,
    bar: number,
    figures: readonly Figure[],
    [program, build]: readonly [Program, Build],
  ): Verdict => {
    const ratios = requestNames.flatMap((request) => {
      const own = figureOf(figures, 'service', 'deployed', request);
      const other = figureOf(figures, program, build, request);
      return own === undefined || other === undefined ? [] : own / other;
    });
    if (ratios.length === 0) throw new Error(`${figure}: nothing was measured`);
    const ratio = Math.max(...ratios);
    const name = `${figure}, to ${labels[program]}, ${buildLabels[build]}`;
    return { figure: name, bar, ratio, isMet: ratio <= bar };
  };
  return [
    verdict('Cold start, the whole process', 1, cold, ['bare-sigv4', 'usual']),
    verdict('Cold start, less an empty handler', 1.1, lessEmpty(cold), ['sdk-call', 'deployed']),
    verdict('Warm invocation', 1.1, warm, ['sdk-call', 'deployed']),
  ];
};

const table = (rows: readonly (readonly (string | number)[])[]): string => {
  const [head = '', ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n');
};

/** A row for each program and build, with a column for each operation that was measured. */
const figureTable = (figures: readonly Figure[], digits: number) => {
  const measured = requestNames.filter((name) => figures.some(({ request }) => request === name));
  const rows = new Map(
    figures.map((each) => [`${labels[each.program]}, ${buildLabels[each.build]}`, each]),
  );
  return table([
    ['', ...measured],
    ...rows
      .entries()
      .map(([label, { program, build }]) => [
        label,
        ...measured.map((name) => figureOf(figures, program, build, name)?.toFixed(digits) ?? ''),
      ]),
  ]);
};

/** The tables of a run: the bars, and every figure that was measured. */
export const tables = (measured: Measured): string => {
  const bars = table([
    ['Ratio of this service', 'at most', 'measured', ''],
    ...verdictsOf(measured).map(({ figure, bar, ratio, isMet }) => [
      figure,
      bar,
      ratio.toFixed(3),
      isMet ? 'met' : '**missed**',
    ]),
  ]);
  const sections: readonly (readonly [
    title: string,
    figures: readonly Figure[],
    digits: number,
  ])[] = [
    ['Cold start: the whole process, millions of instructions', measured.cold, 1],
    ['Warm invocation, millions of instructions', measured.warm, 2],
    ['Cold start: the whole process, milliseconds of CPU time', measured.cpu, 1],
  ];
  const texts = sections
    .filter(([, figures]) => figures.length > 0)
    .map(([title, figures, digits]) => `## ${title}\n\n${figureTable(figures, digits)}\n`);
  return [`${bars}\n`, ...texts].join('\n');
};

/** The comparison of whole cold starts of getPet with what is built as usual, and with the same build. */
const comparison = ({ cold, cpu }: Measured): string => {
  const whole = (program: Program, build: Build, figures = cold): number => {
    const value = figureOf(figures, program, build, 'getPet');
    if (value === undefined) throw new Error(`${program}, ${build}: nothing was measured`);
    return value;
  };
  const row = (program: Program, build: Build) => [
    `${labels[program]}, ${buildLabels[build]}`,
    whole(program, build, cpu).toFixed(1),
    whole(program, build).toFixed(0),
  ];
  const own = whole('service', 'deployed');
  const more = (program: Program) =>
    `${((own / whole(program, 'deployed') - 1) * 100).toFixed(0)} %`;
  const rows = table([
    ['Whole cold start of getPet', 'ms of CPU time', 'million instructions'],
    row('service', 'deployed'),
    row('service', 'usual'),
    row('sdk-call', 'usual'),
    row('bare-sigv4', 'usual'),
  ]);
  return `${rows}\n\nIn this build, the service takes ${more('bare-sigv4')} more instructions than Bare SigV4, and ${more('sdk-call')} more than a Document-client call.`;
};

/** The text of RESULT.md. */
export const report = (measured: Measured): string => `# Results

By \`npm run bench\` on ${cpus()[0]?.model.trim()}, ${availableParallelism()} processors, Node.js ${process.version}. [Explained here](README.md).

${comparison(measured)}

${tables(measured)}`;

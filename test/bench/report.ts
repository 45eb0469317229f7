import type { ColdStart, Start } from './cold.ts';
import type { ContenderName } from './contenders.ts';
import type { Cost, CostedOperation } from './cost.ts';
import type { Bundle, Results } from './results.ts';
import type { Samples } from './samples.ts';
import type { WarmInvocation } from './warm.ts';

/** What a contender is called in tables and chart. */
export const labels: Readonly<Record<ContenderName, string>> = {
  empty: 'Empty handler',
  bare: 'Bare handler (L)',
  sdkCall: 'SDK call alone',
  service: 'This service',
  notWarmedUp: 'This service, no INIT warm-up',
  ordinary: 'This service, esbuild’s defaults',
  hono: 'Hono',
  powertools: 'Powertools event handler',
  express: 'Express',
  fastify: 'Fastify',
};

/** A figure that is bounded: the bar must be met, the hope need not. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly bar: number;
  readonly hope?: number;
  readonly isMet: boolean;
}

const find = <Row>(rows: readonly Row[], matches: (row: Row) => boolean): Row => {
  const row = rows.find(matches);
  if (row === undefined) throw new Error('The results lack a row');
  return row;
};

const coldOf = ({ cold }: Results, start: Start, request: string, name: ContenderName): ColdStart =>
  find(
    find(cold, (row) => row.start === start && row.request === request).starts,
    (row) => row.name === name,
  );

const warmOf = ({ warm }: Results, request: string, name: ContenderName): WarmInvocation =>
  find(find(warm, (row) => row.request === request).invocations, (row) => row.name === name);

const bundleOf = ({ bundles }: Results, request: string, name: ContenderName): Bundle =>
  find(bundles, (row) => row.name === name && row.request === request);

const untilFirstAnswer = (results: Results, name: ContenderName, start: Start = 'lambda') =>
  coldOf(results, start, 'getPet', name).untilFirstAnswer.median;

const aloneMicroseconds = ({ alone }: WarmInvocation) => alone?.median ?? Number.NaN;

/** The budget of the service, and what came of it. */
export const budgetOf = (results: Results): readonly Figure[] => {
  const cold = (other: ContenderName, start?: Start) =>
    untilFirstAnswer(results, 'service', start) / untilFirstAnswer(results, other, start);
  const first = (name: ContenderName) =>
    coldOf(results, 'lambda', 'getPet', name).firstInvocation.median;
  const whole = (request: string, name: ContenderName) =>
    warmOf(results, request, name).whole.median;
  const alone = (name: ContenderName) => aloneMicroseconds(warmOf(results, 'getPet', name));
  const largest = (size: 'bytes' | 'gzipBytes') =>
    Math.max(
      ...results.bundles.filter(({ name }) => name === 'service').map((row) => row[size] / 1_000),
    );
  const figure = (text: string, value: number, bar: number, hope?: number): Figure => ({
    figure: text,
    value,
    bar,
    ...(hope !== undefined && { hope }),
    isMet: value <= bar,
  });
  return [
    figure('cold getPet / bare handler (L)', cold('bare'), 1.95, 1.5),
    figure('the same, Node.js started without Lambda’s flags', cold('bare', 'plain'), 1.95, 1.5),
    figure('cold getPet / own source by esbuild’s defaults', cold('ordinary'), 0.68, 0.5),
    figure('cold getPet / Hono', cold('hono'), 0.8, 0.6),
    figure('cold getPet / Powertools event handler', cold('powertools'), 0.8, 0.6),
    figure('cold getPet / Express', cold('express'), 0.62),
    figure('cold getPet / Fastify', cold('fastify'), 0.55),
    figure(
      'first invocation after the INIT warm-up / without it',
      first('service') / first('notWarmedUp'),
      0.3,
    ),
    figure('total with the INIT warm-up / without it', cold('notWarmedUp'), 1.15),
    figure('largest bundle, KB', largest('bytes'), 220, 185),
    figure('largest bundle, gzipped, KB', largest('gzipBytes'), 72, 62),
    figure(
      'chain over a bare handler, warm getPet, µs',
      alone('service') - alone('sdkCall'),
      15,
      8,
    ),
    figure(
      'whole warm getPet / SDK call alone',
      whole('getPet', 'service') / whole('getPet', 'sdkCall'),
      1.15,
      1.05,
    ),
    figure(
      'list of 100 / bare handler',
      whole('listPetsOf100', 'service') / whole('listPetsOf100', 'bare'),
      4,
      2.5,
    ),
    figure(
      'costs in DynamoDB that are not as promised, at any size of the catalogue',
      results.costs.filter((cost) => !isAsPromised(cost)).length,
      0,
    ),
  ];
};

/** What each operation costs: one request, and so many RCU of a read, WCU of a write. */
const promisedUnits: Readonly<Record<CostedOperation, number>> = {
  getPet: 0.5,
  createPet: 2,
  'listPets, 20 pets': 0.5,
  'listPets, 20 pets of a status': 0.5,
  'listPets, 100 pets': 1.5,
  'listPets, 100 pets of a status': 1.5,
};

const isAsPromised = ({ operation, requests, roundTrips, units }: Cost) =>
  requests === 1 && roundTrips === 1 && units === promisedUnits[operation];

type Cell = string | number;

const markdownTable = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const samples = ({ median, min, max }: Samples, digits = 1) =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;

const kilobytes = (bytes: number) => (bytes / 1_000).toFixed(0);

/** The comparison in short: one row for each contender. */
export const summaryTable = (results: Results): string => {
  const names = find(results.cold, ({ start }) => start === 'lambda').starts.map(
    ({ name }) => name,
  );
  const bareMs = untilFirstAnswer(results, 'bare');
  return markdownTable(
    [
      '',
      'cold getPet, CPU ms',
      'of L',
      'its first invocation',
      'bundle, KB',
      'gzipped',
      'memory, MB',
      'warm getPet without the SDK, CPU µs',
    ],
    names.map((name) => {
      const cold = coldOf(results, 'lambda', 'getPet', name);
      const bundle = bundleOf(results, 'getPet', name);
      const warm = results.warm
        .find(({ request }) => request === 'getPet')
        ?.invocations.find((row) => row.name === name)?.alone;
      return [
        name === 'service' ? `**${labels[name]}**` : labels[name],
        cold.untilFirstAnswer.median.toFixed(0),
        (cold.untilFirstAnswer.median / bareMs).toFixed(2),
        cold.firstInvocation.median.toFixed(0),
        kilobytes(bundle.bytes),
        kilobytes(bundle.gzipBytes),
        cold.residentMb.median.toFixed(0),
        warm?.median.toFixed(0) ?? '',
      ];
    }),
  );
};

/** Requests, round trips and capacity units by operation and catalogue. */
export const costTable = ({ costs }: Results): string => {
  const sizes = [...new Set(costs.map(({ pets }) => pets))];
  const operations = [...new Set(costs.map(({ operation }) => operation))];
  const cost = ({ requests, roundTrips, units }: Cost) => `${requests}, ${roundTrips}, ${units}`;
  return markdownTable(
    ['requests, round trips, units', ...sizes.map((size) => `${size.toLocaleString('en')} pets`)],
    operations.map((operation) => [
      operation,
      ...sizes.map((size) =>
        cost(find(costs, (row) => row.operation === operation && row.pets === size)),
      ),
    ]),
  );
};

/** The whole result, to be read. */
export const report = (results: Results, command: string): string => `# What the service costs

Made by \`${command}\` on ${results.machine}, Node.js ${results.node}. CPU time of processes, medians (least to most) of
${results.coldRounds} interleaved rounds cold and ${results.warmRounds} warm. Ratios hold on other machines, milliseconds don't. What was tried
where a bar is not met is explained in README.md.
${Object.entries(results.versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.

## Budget

${markdownTable(
  ['figure', 'bar', 'hope', 'measured', ''],
  budgetOf(results).map(({ figure, value, bar, hope, isMet }) => [
    figure,
    bar,
    hope ?? '',
    value.toFixed(value < 20 ? 2 : 0),
    isMet ? 'met' : '**not met**',
  ]),
)}

## Cold

From the start of the process to the first answer over TLS, less an empty handler; in ms of CPU time. Node.js is started
with the flags of Lambda's own bootstrap, or plainly.

${results.cold
  .map(
    ({ start, request, empty, starts }) =>
      `### ${request}, Node.js ${start === 'lambda' ? 'as Lambda starts it' : 'started without flags'}\n\nAn empty handler takes ${samples(empty)} ms.\n\n${markdownTable(
        ['', 'until the first answer', 'of L', 'of this after INIT', 'memory, MB'],
        starts.map(({ name, untilFirstAnswer: total, firstInvocation, residentMb }) => [
          labels[name],
          samples(total),
          (total.median / coldOf(results, start, request, 'bare').untilFirstAnswer.median).toFixed(
            2,
          ),
          samples(firstInvocation),
          samples(residentMb, 0),
        ]),
      )}`,
  )
  .join('\n\n')}

## Warm

One invocation with the network stubbed out, in µs of CPU time: all of it, and without the SDK.

${results.warm
  .map(
    ({ request, invocations }) =>
      `### ${request}\n\n${markdownTable(
        ['', 'whole', 'without the SDK'],
        invocations.map(({ name, whole, alone }) => [
          labels[name],
          samples(whole, 0),
          alone ? samples(alone) : '',
        ]),
      )}`,
  )
  .join('\n\n')}

## Bundles

${markdownTable(
  ['', 'operation', 'bytes', 'gzipped'],
  results.bundles.map(({ name, request, bytes, gzipBytes }) => [
    labels[name],
    request,
    bytes,
    gzipBytes,
  ]),
)}

## DynamoDB

Asked of DynamoDB Local, for pets of 90 bytes, once the function knows the API key: RCU of reads, WCU of createPet.

${costTable(results)}
`;

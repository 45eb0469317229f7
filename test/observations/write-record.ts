import { readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import * as v from 'valibot';
import { openStage } from '../../infra/commands/keys/stage-keys.ts';
import type { Stage } from '../../infra/settings/stages.ts';
import { type DeploymentObservations, observationsWith } from './observations.ts';
import { observe } from './raw-request.ts';

const TimedLine = v.object({
  operation: v.string(),
  coldStart: v.boolean(),
  durationMs: v.number(),
  lambdaRequestId: v.string(),
});

/** The line that Lambda writes after each invocation. */
const report =
  /^REPORT RequestId: (\S+).*Max Memory Used: (\d+) MB(?:.*Init Duration: ([\d.]+) ms)?/s;

const reportIn = (message: string) => {
  const [, id, memoryMiB, initMs] = report.exec(message) ?? [];
  return id === undefined ? [] : [[id, { memoryMiB, initMs }] as const];
};

/** Returns the number of values, their median and their 99th percentile (nearest rank). */
const summary = (values: readonly number[]) => {
  const sorted = values.toSorted((one, other) => one - other);
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  return { count: sorted.length, p50: rank(0.5), p99: rank(0.99) };
};

/** Returns what log lines tell of each operation: its initialisation, first and warm requests. */
export const timesIn = (messages: readonly string[]) => {
  const reports = new Map(messages.flatMap(reportIn));
  const lines = messages.flatMap((message) => {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), TimedLine), message);
    return parsed.success ? [parsed.output] : [];
  });
  const timesOf = (ofOperation: typeof lines) => {
    const durations = (cold: boolean) =>
      ofOperation.filter(({ coldStart }) => coldStart === cold).map(({ durationMs }) => durationMs);
    const found = ofOperation.flatMap(({ lambdaRequestId }) => reports.get(lambdaRequestId) ?? []);
    return {
      initMs: summary(found.flatMap(({ initMs }) => (initMs ? [Number(initMs)] : []))),
      firstMs: summary(durations(true)),
      warmMs: summary(durations(false)),
      memoryMiB: summary(found.map(({ memoryMiB }) => Number(memoryMiB))),
    };
  };
  const byOperation = Map.groupBy(lines, ({ operation }) => operation);
  return Object.fromEntries(byOperation.entries().map(([name, each]) => [name, timesOf(each)]));
};

const StoredRecord = v.object({ responses: v.record(v.string(), v.unknown()) });

const readRecord = async (file: string) => {
  const text = await readFile(file, 'utf8').catch(() => '{"responses":{}}');
  return v.parse(v.pipe(v.string(), v.parseJson(), StoredRecord), text);
};

/**
 * Observes a stage, and writes the record with its date into a file that can be committed. Returns a line for
 * each response that differs from the record that was there.
 */
export const writeRecord = async (
  file: string,
  stage: Stage,
  {
    baseAddress,
    apiKey,
    packageBytes,
    deployments,
  }: {
    readonly baseAddress: string;
    readonly apiKey: string;
    readonly packageBytes: Readonly<Record<string, number>>;
    /** What was seen while the stage was deployed. */
    readonly deployments: Partial<DeploymentObservations>;
  },
): Promise<string[]> => {
  const responses: Record<string, Awaited<ReturnType<typeof observe>> | boolean> = {
    ...deployments,
  };
  for (const [name, request] of Object.entries(observationsWith(apiKey)))
    responses[name] = await observe(baseAddress, request);
  const { logGroupNames, config } = await openStage(stage);
  const client = new CloudWatchLogsClient(config);
  const pages = await Promise.all(
    logGroupNames.map((logGroupName) =>
      Array.fromAsync(paginateFilterLogEvents({ client }, { logGroupName })),
    ),
  );
  const messages = pages
    .flat()
    .flatMap(({ events = [] }) => events.map(({ message = '' }) => message));
  const { responses: before } = await readRecord(file);
  const found = {
    date: new Date().toISOString(),
    responses,
    times: timesIn(messages),
    packageBytes,
  };
  const text = JSON.stringify(found, undefined, 2);
  await writeFile(file, `${text}\n`);
  const after = v.parse(v.pipe(v.string(), v.parseJson(), StoredRecord), text).responses;
  return Object.entries(after)
    .filter(([name, response]) => !isDeepStrictEqual(response, before[name]))
    .map(([name, response]) => {
      const earlier = name in before ? JSON.stringify(before[name]) : 'nothing recorded';
      return `- ${name}: ${earlier} became ${JSON.stringify(response)}`;
    });
};

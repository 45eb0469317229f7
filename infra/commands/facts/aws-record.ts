import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { projectDirectory } from '../../build/project-directory.ts';

const Summary = v.object({
  count: v.number(),
  p50: v.optional(v.number()),
  p99: v.optional(v.number()),
});
const AwsRecord = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    date: v.string(),
    times: v.record(
      v.string(),
      v.object({ initMs: Summary, firstMs: Summary, warmMs: Summary, memoryMiB: Summary }),
    ),
  }),
);

const cell = ({ count, p50, p99 }: v.InferOutput<typeof Summary>) =>
  `${p50 ?? '-'}, ${p99 ?? '-'} (${count})`;

/** Returns times and memory in a record of `npm run e2e:deploy` on AWS as Markdown: the newest by default. */
export const awsRecordText = (text = newestRecord()): string => {
  if (text === undefined) return 'There is no record from AWS yet.';
  const { date, times } = v.parse(AwsRecord, text);
  const rows = Object.entries(times).map(
    ([name, { initMs, firstMs, warmMs, memoryMiB }]) =>
      `| \`${name}\` | ${cell(initMs)} | ${cell(firstMs)} | ${cell(warmMs)} | ${cell(memoryMiB)} |`,
  );
  return [
    `Recorded on ${date.slice(0, 10)}: the median, the 99th percentile and (the number of requests).`,
    '',
    '| operation | initialisation, ms | first request, ms | warm request, ms | memory, MiB |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
};

const newestRecord = (): string | undefined => {
  const path = join(projectDirectory, 'test/observations/aws.json');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

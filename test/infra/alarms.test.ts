import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { prod } from '../../infra/stages.ts';
import { templateOf } from '../support/stack.ts';

const Metric = z.object({ Namespace: z.string(), MetricName: z.string() });
const Alarm = z.object({
  AlarmName: z.string(),
  Namespace: z._default(z.string(), ''),
  MetricName: z._default(z.string(), ''),
  Threshold: z.number(),
  EvaluationPeriods: z.number(),
  DatapointsToAlarm: z.optional(z.number()),
  Metrics: z.optional(
    z.array(
      z.object({
        Id: z.string(),
        Expression: z.optional(z.string()),
        MetricStat: z.optional(z.object({ Metric, Stat: z.string() })),
      }),
    ),
  ),
});
type Alarm = z.output<typeof Alarm>;

const alarms = Object.values(templateOf(prod).findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Alarm.parse(Properties),
);
const cases = alarms.map(
  (alarm) => [alarm.AlarmName.replace('animal-store-prod-', ''), alarm] as const,
);

/** The metrics of an alarm, by the ids that its expression has. */
const metricsOf = ({ Metrics, Namespace, MetricName }: Alarm) =>
  Metrics?.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat.Metric }] : [])) ?? [
    { Id: 'm', Namespace, MetricName },
  ];

/** A value that a metric has in every period; undefined where CloudWatch has no data. */
type Values = (metricName: string, index: number) => number | undefined;

/**
 * What an expression gives; NaN for missing. AWS's pages disagree whether arithmetic takes missing data for 0.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const resultOf = (alarm: Alarm, values: Values, missing: number, year: number): number => {
  const ids = metricsOf(alarm).map(({ Id, MetricName }, index) => [
    Id,
    values(MetricName, index) ?? missing,
  ]);
  const functions = {
    IF: (condition: boolean, yes: number, no: number) => (condition ? yes : no),
    FILL: (value: number, filler: number) => (Number.isNaN(value) ? filler : value),
    YEAR: () => year,
  };
  const expression = alarm.Metrics?.find(({ Expression }) => Expression)?.Expression ?? 'm';
  return runInNewContext(expression, { ...functions, ...Object.fromEntries(ids) });
};

const readings = [Number.NaN, 0];
/** Whether an alarm goes off when every period of it has these values, in either reading of missing data. */
const goesOff = (alarm: Alarm, values: Values, year = 2026): boolean[] =>
  readings.map((missing) => resultOf(alarm, values, missing, year) >= alarm.Threshold);

const always = [true, true];
const never = [false, false];

describe('the alarm', () => {
  it.each(cases)('%s stays off without data', (_name, alarm) => {
    expect(goesOff(alarm, () => undefined, 2030)).toEqual(never);
  });

  it.each(cases)('%s stays off without traffic', (_name, alarm) => {
    expect(goesOff(alarm, () => 0, 2030)).toEqual(never);
  });

  it.each(cases)('%s stays off for one bad request at night', (name, alarm) => {
    // A version that gets its first requests is taken back for one crash.
    const expected = name.startsWith('canary-errors') ? always : never;
    const slowAndFailed: Values = (metric, index) => {
      if (metric === 'Latency') return 29_000;
      return metric === 'Count' || index === 0 ? 1 : undefined;
    };
    expect(goesOff(alarm, slowAndFailed)).toEqual(expected);
  });

  it.each(cases)('%s goes off in an incident', (_name, alarm) => {
    expect(goesOff(alarm, () => 10_000, 2030)).toEqual(always);
  });

  it.each(cases)(
    '%s goes off when only one of the metrics that it adds has data',
    (_name, alarm) => {
      if (!alarm.Metrics?.some(({ Expression }) => Expression?.includes(' + '))) return;
      for (const only of metricsOf(alarm).keys()) {
        expect(goesOff(alarm, (_metric, index) => (index === only ? 10_000 : undefined))).toEqual(
          always,
        );
      }
    },
  );

  // Alarms on DynamoDB's metrics keep their state while data is missing, even if treatMissingData says otherwise.
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
  it.each(cases.filter(([, alarm]) => metricsOf(alarm)[0]?.Namespace === 'AWS/DynamoDB'))(
    '%s ends when throttles have ended, as it then has 0 and no missing data',
    (_name, alarm) => {
      for (const missing of readings)
        expect(resultOf(alarm, () => undefined, missing, 2026)).toBe(0);
    },
  );

  it('names every condition that AWS throttles or blocks for', () => {
    expect(cases.map(([name]) => name)).toEqual(
      expect.arrayContaining(['table-throttles', 'index-throttles', 'firewall-blocks']),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { prod } from '../../infra/stages.ts';
import { type AlarmCondition, alarmsOf } from '../support/alarms.ts';
import { deployedTemplate } from '../support/stack.ts';

const all = [...alarmsOf(deployedTemplate(prod)).values()].map(
  (alarm) => [alarm.name, alarm] as const,
);
/** Those that traffic sets off; the others are on what always has data. */
const cases = all.filter(([, { missingBreaches }]) => !missingBreaches);

/** A value that a metric has in every period; undefined where CloudWatch has no data. */
type Values = (metricName: string, index: number) => number | undefined;

/** AWS's pages disagree whether arithmetic takes missing data for 0, so missing is NaN or 0. */
const readings = [Number.NaN, 0];
const inEachReading = ({ metrics }: AlarmCondition, values: Values): number[][] =>
  readings.map((missing) =>
    metrics.map(({ MetricName }, index) => values(MetricName, index) ?? missing),
  );
/** Whether an alarm goes off when every period of it has these values, in either reading. */
const goesOff = (alarm: AlarmCondition, values: Values, year?: number): boolean[] =>
  inEachReading(alarm, values).map((inPeriod) => alarm.breaches(inPeriod, year));

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
      return ['Count', 'Requests'].includes(metric) || index === 0 ? 1 : undefined;
    };
    expect(goesOff(alarm, slowAndFailed)).toEqual(expected);
  });

  it.each(cases)('%s goes off in an incident', (_name, alarm) => {
    expect(goesOff(alarm, () => 10_000, 2030)).toEqual(always);
  });

  it.each(cases.filter(([, { expression }]) => expression.includes(' + ')))(
    '%s goes off when only one of the metrics that it adds has data',
    (_name, alarm) => {
      for (const only of alarm.metrics.keys()) {
        expect(goesOff(alarm, (_metric, index) => (index === only ? 10_000 : undefined))).toEqual(
          always,
        );
      }
    },
  );

  // Alarms on DynamoDB's metrics keep their state while data is missing, even if treatMissingData says otherwise.
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
  it.each(cases.filter(([, { metrics }]) => metrics[0]?.Namespace === 'AWS/DynamoDB'))(
    '%s ends when throttles have ended, as it then has 0 and no missing data',
    (_name, alarm) => {
      const results = inEachReading(alarm, () => undefined).map((values) => alarm.compute(values));
      expect(results).toEqual([0, 0]);
    },
  );

  it('names every condition that AWS throttles or blocks for', () => {
    expect(cases.map(([name]) => name)).toEqual(
      expect.arrayContaining(['table-throttles', 'index-throttles', 'firewall-blocks']),
    );
  });
});

import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { describe, expect, it } from 'vitest';
import { Monitoring } from '../../infra/constructs/monitoring.ts';
import { prod } from '../../infra/settings/stages.ts';
import { deployedTemplate, newApp } from '../support/templates.ts';
import { type AlarmCondition, alarmsOf } from './stack-alarms.ts';

const template = deployedTemplate(prod);

/** A value that a metric has in every period; undefined where CloudWatch has no data. */
type Values = (metricName: string, index: number) => number | undefined;

/**
 * The values for missing data: NaN and 0. AWS's pages disagree whether arithmetic takes missing data for 0.
 */
const readings = [Number.NaN, 0];

/**
 * Tells whether an alarm goes off when every period of it has these values, for either value of missing data.
 */
const goesOff = (alarm: AlarmCondition, values: Values, year?: number): boolean[] =>
  readings.map((missing) =>
    alarm.breaches(
      alarm.metrics.map(({ MetricName }, index) => values(MetricName, index) ?? missing),
      year,
    ),
  );

const always = [true, true];
const never = [false, false];

const alarms = alarmsOf(template).map((alarm) => [alarm.name, alarm] as const);

describe('the alarm', () => {
  it.each(alarms)('%s stays off without data or traffic, except probe', (name, alarm) => {
    // A minute without a probe is a failure.
    const expected = name === 'probe' ? always : never;
    expect(goesOff(alarm, () => undefined, 2030)).toEqual(expected);
    expect(goesOff(alarm, () => 0, 2030)).toEqual(expected);
  });

  it.each(alarms)('%s stays off for one bad request, except canaryerrors', (name, alarm) => {
    // A version that gets its first requests is rolled back for one crash.
    const expected = name.startsWith('canaryerrors') ? always : never;
    const slowAndFailed: Values = (metric, index) => {
      if (metric === 'Latency') return 29_000;
      return ['Count', 'Requests'].includes(metric) || index === 0 ? 1 : undefined;
    };
    expect(goesOff(alarm, slowAndFailed)).toEqual(expected);
  });
});

it('each of twelve metrics is watched, though CloudWatch adds at most ten for an alarm', () => {
  const stack = new Stack(newApp(), 'Stack');
  const restApi = new RestApi(stack, 'Api');
  restApi.root.addMethod('ANY');
  const tables = Array.from({ length: 6 }, (_, at) => ({
    table: new Table(stack, `Table${at}`, {
      partitionKey: { name: 'id', type: AttributeType.STRING },
    }),
    indexNames: [],
  }));
  new Monitoring(stack, 'Monitoring', { stage: prod, restApi, functions: new Map(), tables });
  const watching = alarmsOf(Template.fromStack(stack)).filter(({ name }) =>
    name.startsWith('tablethrottles'),
  );
  const watched = watching.flatMap(({ metrics }) =>
    metrics.map(({ id, ...each }) => JSON.stringify(each)),
  );
  expect(new Set(watched).size).toBe(12);
});

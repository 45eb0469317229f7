import { compileFunction } from 'node:vm';
import type { Template } from 'aws-cdk-lib/assertions';
import * as v from 'valibot';
import { withoutHash } from '../support/templates.ts';

const MetricStat = v.object({
  Metric: v.object({
    Namespace: v.string(),
    MetricName: v.string(),
    Dimensions: v.optional(v.array(v.object({ Name: v.string(), Value: v.unknown() })), []),
  }),
  Period: v.number(),
  Stat: v.string(),
});
const Alarm = v.object({
  ActionsEnabled: v.optional(v.boolean()),
  Threshold: v.number(),
  ComparisonOperator: v.string(),
  TreatMissingData: v.optional(v.string()),
  EvaluationPeriods: v.number(),
  DatapointsToAlarm: v.optional(v.number()),
  Metrics: v.optional(
    v.array(
      v.object({
        Id: v.string(),
        Expression: v.optional(v.string()),
        MetricStat: v.optional(MetricStat),
      }),
    ),
  ),
});

const comparisons: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanOrEqualToThreshold: '<=',
  LessThanThreshold: '<',
};

/**
 * The functions of metric math, in a given year. A missing value is NaN, and so is the result
 * of an operation with it.
 */
const metricMath = (year: number) => ({
  IF: (condition: boolean, yes: number, no: number) => (condition ? yes : no),
  FILL: (value: number, filler: number) => (Number.isNaN(value) ? filler : value),
  YEAR: () => year,
});

/**
 * Reads the condition of an alarm from the properties of its resource. `breaches` tells whether its
 * expression breaches the threshold for one value per metric, NaN for missing data, in a given year.
 */
const conditionOf = (name: string, properties: Readonly<Record<string, unknown>>) => {
  const alarm = v.parse(Alarm, properties);
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = alarm;
  const { Period, ExtendedStatistic, Statistic: Stat = ExtendedStatistic, ...Metric } = properties;
  const metrics = alarm.Metrics?.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [{ id: Id, ...MetricStat }] : [],
  ) ?? [{ id: 'm', ...v.parse(MetricStat, { Metric, Period, Stat }) }];
  const [{ id, Period: period } = { id: '', Period: 0 }] = metrics;
  if (metrics.length === 0 || metrics.some(({ Period }) => Period !== period))
    throw new Error(`${name} needs metrics of one period`);
  const expression = alarm.Metrics?.find(({ Expression }) => Expression)?.Expression ?? id;
  const comparison = `${comparisons[alarm.ComparisonOperator]} ${alarm.Threshold}`;
  const names = [...Object.keys(metricMath(0)), ...metrics.map((metric) => metric.id)];
  const run = compileFunction(
    `const value = ${expression}; return Number.isNaN(value) ? undefined : value ${comparison}`,
    names,
  );
  const breaches = (values: readonly number[], year = 2026): boolean =>
    run(...Object.values(metricMath(year)), ...values) ?? alarm.TreatMissingData === 'breaching';
  return {
    name,
    /** In words, with the name that CloudWatch has for how it takes missing data. */
    condition: `${expression} ${comparison} in ${DatapointsToAlarm} of ${EvaluationPeriods} periods of ${period} s, missing data ${alarm.TreatMissingData}`,
    ActionsEnabled: alarm.ActionsEnabled,
    metrics: metrics.map(({ id, Metric, Stat }) => ({ ...Metric, id, Stat })),
    breaches,
  };
};

export type AlarmCondition = ReturnType<typeof conditionOf>;

/** The conditions of a template's alarms, which have the names of their constructs, as `servererrors`. */
export const alarmsOf = (template: Template): readonly AlarmCondition[] =>
  Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) =>
    conditionOf(withoutHash(id).replace(/^Monitoring/, ''), Properties),
  );

import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { metricsNamespace } from '../../lib/telemetry/metric-names.ts';
import { serviceName } from '../names.ts';
import type { Stage } from '../stages.ts';
import type { ServiceFunctions } from './stage-function.ts';

/** What the alarms and the dashboard of a stage watch. */
export interface MonitoredService {
  readonly stage: Stage;
  readonly restApi: RestApi;
  readonly functions: ServiceFunctions;
  readonly petsTable: Table;
  readonly keysTable: Table;
}

/**
 * A metric of the service's own in a stage, of an operation or of one version of its
 * function, over 5 minutes.
 */
export const serviceMetric = (
  stage: Stage,
  metricName: string,
  dimensions: { readonly operation?: string; readonly version?: string },
  statistic = 'Sum',
) =>
  new Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap: { service: serviceName(stage), ...dimensions },
    statistic,
    label: dimensions.operation ?? metricName,
  });

/** A metric of the probe of a stage, over a minute. */
export const probeMetric = (stage: Stage, metricName: string, statistic: string) =>
  serviceMetric(stage, metricName, {}, statistic).with({ period: Duration.minutes(1) });

/** A metric of DynamoDB, of a table or of what `dimensions` narrows that to, over 5 minutes. */
export const tableMetric = (
  table: Table,
  metricName: string,
  dimensions: Readonly<Record<string, string>> = {},
) =>
  table.metric(metricName, {
    dimensionsMap: { TableName: table.tableName, ...dimensions },
    statistic: 'Sum',
  });

/**
 * The sum of metrics, fit for an alarm: missing values count as 0. AWS's pages disagree whether
 * arithmetic does that, and an alarm that gets no value from AWS/DynamoDB keeps its state, even if
 * treatMissingData says otherwise.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
export const sumOf = (metrics: readonly Metric[], period = Duration.minutes(5)) => {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  const values = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({ expression: values.join(' + '), usingMetrics, period });
};

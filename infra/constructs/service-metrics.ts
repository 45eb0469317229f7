import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { metricsNamespace, probeMetricName } from '../../lib/telemetry/metric-names.ts';
import { serviceName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import type { ApiFunctions } from './bundled-function.ts';

/** The parts of a stage that its alarms and its dashboard watch. */
export interface MonitoredService {
  readonly stage: Stage;
  readonly restApi: RestApi;
  readonly functions: ApiFunctions;
  readonly tables: readonly MonitoredTable[];
}

/** A table with the names of its indexes. */
export interface MonitoredTable {
  readonly table: Table;
  readonly indexNames: readonly string[];
}

/**
 * Returns a metric of a stage that the service itself writes, of an operation or of one version of its
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

/** Returns the metric of the probe of a stage, over one minute. */
export const probeMetric = (stage: Stage, statistic: string) =>
  serviceMetric(stage, probeMetricName, {}, statistic).with({ period: Duration.minutes(1) });

/** Returns a metric of a DynamoDB table over 5 minutes. `dimensions` narrows it, for example to an index. */
export const tableMetric = (
  table: Table,
  metricName: string,
  dimensions: Readonly<Record<string, string>> = {},
) =>
  table.metric(metricName, {
    dimensionsMap: { TableName: table.tableName, ...dimensions },
    statistic: 'Sum',
  });

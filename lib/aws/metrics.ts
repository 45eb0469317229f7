import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { type MetricName, metricNames, metricsNamespace } from '../contract/metric-names.ts';

const metrics = new Metrics({ namespace: metricsNamespace });

/** Counts one occurrence in the present request. */
export const count = (name: MetricName): void => {
  metrics.addMetric(name, MetricUnit.Count, 1);
};

/** Notes how long the present request waited for a call of DynamoDB, in ms. */
export const recordDynamodbLatency = (ms: number): void => {
  metrics.addMetric(metricNames.dynamodbLatency, MetricUnit.Milliseconds, ms);
};

/** Forgets what was counted and measured before the first request, as no client waited for it. */
export const forgetMetrics = (): void => {
  metrics.clearMetrics();
};

/** What was counted and measured since the last time, as one line of CloudWatch's embedded metric format has it. */
export const metricsLine = (operation: string): object => {
  metrics.addDimension('operation', operation);
  const line = metrics.serializeMetrics();
  metrics.clearMetrics();
  metrics.clearDimensions();
  return line;
};

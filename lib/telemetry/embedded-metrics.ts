import { metricsNamespace } from './metric-names.ts';

/** Metrics that share dimensions, in the form in which CloudWatch reads them from a log line. */
export interface MetricDirective {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
}

/**
 * Returns the directive for metrics with these dimensions. A metric whose name ends with `Latency` is in
 * ms. All others are counts.
 */
export const metricDirective = (
  dimensions: readonly string[],
  names: readonly string[],
): MetricDirective => ({
  Namespace: metricsNamespace,
  Dimensions: [dimensions],
  Metrics: names.map((Name) => ({
    Name,
    Unit: Name.endsWith('Latency') ? 'Milliseconds' : 'Count',
  })),
});

/**
 * Writes one log line with its fields, and says which of them are metrics or dimensions. Leaves out
 * fields that are `undefined`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export const writeLine = (
  fields: Readonly<Record<string, unknown>>,
  directives: readonly MetricDirective[],
): void => {
  const line = { ...fields, _aws: { Timestamp: Date.now(), CloudWatchMetrics: directives } };
  // Lambda would add a prefix to a line of console.log:
  // https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

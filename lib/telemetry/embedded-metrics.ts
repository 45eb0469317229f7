import { metricsNamespace } from './metric-names.ts';

/**
 * Returns the directive for metrics with these dimensions. A metric whose name ends with `Latency` is in
 * ms. All others are counts.
 */
export const metricDirective = (dimensions: readonly string[], names: readonly string[]) => ({
  Namespace: metricsNamespace,
  Dimensions: [dimensions],
  Metrics: names.map((Name) => ({
    Name,
    Unit: Name.endsWith('Latency') ? 'Milliseconds' : 'Count',
  })),
});

/**
 * Returns the field `_aws` of a log line, which says which other fields are metrics or dimensions.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export const metricsField = (directives: readonly ReturnType<typeof metricDirective>[]) => ({
  Timestamp: Date.now(),
  CloudWatchMetrics: directives,
});

/** Writes one log line. Leaves out fields that are `undefined`. */
export const writeLine = (line: object): void => {
  // Lambda would add a prefix to a line of console.log:
  // https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

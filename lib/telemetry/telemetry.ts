import { environment } from '../environment.ts';
import {
  type MetricName,
  metricNames,
  metricsNamespace,
  versionMetricNames,
} from './metric-names.ts';

const service = environment('SERVICE_NAME');
const version = process.env['AWS_LAMBDA_FUNCTION_VERSION'];

/** The most values of a metric that CloudWatch takes from one line; more are left out. */
const maxValues = 100;

// Metrics and corrupt items of the current request: a function handles one at a time.
const metrics = new Map<MetricName, number[]>();
const corruptItems: string[] = [];

const record = (name: MetricName, value: number): void => {
  const values = metrics.get(name);
  if (!values) metrics.set(name, [value]);
  else if (values.length < maxValues) values.push(value);
};

/** Counts one occurrence in the current request. */
export const count = (name: MetricName): void => record(name, 1);

/** Records how long the current request waited for a call of DynamoDB, in ms. */
export const recordDynamodbLatency = (ms: number): void => record(metricNames.dynamodbLatency, ms);

/** Records the id of a stored item that the current request could not read; nothing else of it may be logged. */
export const noteCorruptItem = (id: string): void => {
  if (corruptItems.length < maxValues) corruptItems.push(id);
};

/** Discards everything recorded, such as the work before the first request, which no client waited for. */
export const forgetMetrics = (): void => {
  metrics.clear();
  corruptItems.length = 0;
};

/**
 * Writes the one line of a request, with everything recorded since the last one, in CloudWatch's embedded metric format.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export const writeLine = (fields: {
  readonly operation: string;
  readonly [versionMetricNames.latency]: number;
  readonly [field: string]: unknown;
}): void => {
  const line: Record<string, unknown> = {
    ...fields,
    corruptItems: corruptItems.length > 0 ? corruptItems : undefined,
    service,
    version,
  };
  // One value is written as a number, so that queries of the log can calculate with it.
  for (const [name, values] of metrics) line[name] = values.length === 1 ? values[0] : values;
  const metadata = `{"Timestamp":${Date.now()},"CloudWatchMetrics":${directivesFor([...metrics.keys()])}}`;
  // Not console.log, which Lambda gives a prefix (https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html).
  process.stdout.write(`${JSON.stringify(line).slice(0, -1)},"_aws":${metadata}}\n`);
  forgetMetrics();
};

const writtenDirectives = new Map<string, string>();

/** The directives in JSON, cached: most requests need the same ones, and writing them takes as long as the rest of the line. */
const directivesFor = (names: readonly MetricName[]): string => {
  const key = names.join();
  const directives =
    writtenDirectives.get(key) ??
    JSON.stringify([
      directive(['service', 'operation'], names),
      directive(
        ['service', 'operation', 'version'],
        [...names.filter(isByVersion), versionMetricNames.latency],
      ),
    ]);
  writtenDirectives.set(key, directives);
  return directives;
};

const isByVersion = (name: MetricName) =>
  name === metricNames.requests || name === metricNames.serverErrors;

const directive = (dimensions: readonly string[], names: readonly string[]) => ({
  Namespace: metricsNamespace,
  Dimensions: [dimensions],
  Metrics: names.map((Name) => ({
    Name,
    Unit: Name.endsWith('Latency') ? 'Milliseconds' : 'Count',
  })),
});

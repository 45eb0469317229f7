import { environment } from '../environment.ts';
import { type MetricDirective, metricDirective, writeLine } from './embedded-metrics.ts';
import { type MetricName, metricNames, versionMetricNames } from './metric-names.ts';

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

/** Writes the one line of a request, with everything recorded since the last one. */
export const writeRequestLine = (fields: {
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
  writeLine(line, directivesFor([...metrics.keys()]));
  forgetMetrics();
};

const knownDirectives = new Map<string, readonly MetricDirective[]>();

/** The directives of a line with these metrics. Remembered, because most requests have the same metrics. */
const directivesFor = (names: readonly MetricName[]): readonly MetricDirective[] => {
  const key = names.join();
  const directives = knownDirectives.get(key) ?? [
    metricDirective(['service', 'operation'], names),
    metricDirective(
      ['service', 'operation', 'version'],
      [...names.filter(isByVersion), versionMetricNames.latency],
    ),
  ];
  knownDirectives.set(key, directives);
  return directives;
};

const isByVersion = (name: MetricName) =>
  name === metricNames.requests || name === metricNames.serverErrors;

import { environment, optionalEnvironment } from '../environment.ts';
import { metricDirective, metricsField, writeLine } from './embedded-metrics.ts';
import { type MetricName, metricNames, versionMetricNames } from './metric-names.ts';

const service = environment('SERVICE_NAME');
const version = optionalEnvironment('AWS_LAMBDA_FUNCTION_VERSION');

/**
 * The maximum number of values of a metric that CloudWatch reads from one line. Further values are left out.
 */
const maxValues = 100;

/** What happens during one request, until its log line is written. */
export class RequestLog {
  readonly #metrics = new Map<MetricName, number[]>();
  readonly #corruptItems: string[] = [];
  readonly #fields: Record<string, string | number | boolean> = {};

  /**
   * Adds fields to the log line of the request, such as `{ petsReturned: 20 }`. Pass counts, durations and
   * names or ids that the service made. Never pass what a client sent, nor a part or a hash of it, because
   * clients paste secrets anywhere. A name that the line has already keeps its own value.
   */
  addFields(fields: Readonly<Record<string, string | number | boolean>>): void {
    Object.assign(this.#fields, fields);
  }

  /** Counts one occurrence. */
  count(name: MetricName): void {
    this.#add(name, 1);
  }

  /** Adds how long the request waited for a call of DynamoDB, in ms. */
  addDynamodbLatency(ms: number): void {
    this.#add(metricNames.dynamodbLatency, ms);
  }

  /** Adds the id of a stored item that could not be read. No other part of the item may be logged. */
  addCorruptItem(id: string): void {
    if (this.#corruptItems.length < maxValues) this.#corruptItems.push(id);
  }

  /** Writes the one log line of the request, with these fields and everything that was added or counted. */
  write(fields: Readonly<Record<string, unknown>>): void {
    const line: Record<string, unknown> = {
      ...fields,
      corruptItems: this.#corruptItems.length > 0 ? this.#corruptItems : undefined,
      service,
      version,
    };
    for (const [name, value] of Object.entries(this.#fields)) {
      if (!(name in line)) line[name] = value;
    }
    // One value is written as a number, so that queries of the log can calculate with it.
    for (const [name, values] of this.#metrics) {
      line[name] = values.length === 1 ? values[0] : values;
    }
    line['_aws'] = metricsField(directivesFor([...this.#metrics.keys()]));
    writeLine(line);
  }

  #add(name: MetricName, value: number): void {
    const values = this.#metrics.get(name);
    if (!values) this.#metrics.set(name, [value]);
    else if (values.length < maxValues) values.push(value);
  }
}

const knownDirectives = new Map<string, readonly ReturnType<typeof metricDirective>[]>();

/**
 * Returns the directives of a line with these metrics. They are cached, because most
 * requests have the same metrics.
 */
const directivesFor = (names: readonly MetricName[]) => {
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

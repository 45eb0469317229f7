import { metricsNamespace, probeMetricNames } from '../../lib/contract/metric-names.ts';
import { readProbeKey, variable } from '../lambda/probe-key.ts';

/** How long reading the key may take, and a request, in ms. */
const patienceMs = 5_000;

/** Whether a body is a page of at most one pet. */
const isPage = (body: unknown): boolean =>
  Array.isArray(body) &&
  body.length <= 1 &&
  body.every(({ id, name, status }) => id > 0 && name?.length > 0 && status?.length > 0);

/** Kept until it is refused. */
let apiKey: string | undefined;

/** Asks the public address for one pet, as a client does. Writes what it found; no failure is an error of its own. */
export const handler = async (): Promise<void> => {
  try {
    writeLine({ [probeMetricNames.success]: 1, [probeMetricNames.latency]: await probe() });
  } catch (error) {
    writeLine({ [probeMetricNames.success]: 0 }, reasonOf(error));
  }
};

/** How long the right answer took, in ms. Throws for any other. */
const probe = async (): Promise<number> => {
  const isKept = apiKey !== undefined;
  apiKey ??= await readProbeKey(AbortSignal.timeout(patienceMs));
  const startedAt = performance.now();
  const response = await fetch(`${variable('BASE_ADDRESS')}/pets?limit=1`, {
    headers: { Authorization: `Bearer ${apiKey}`, 'User-Agent': 'animal-store-probe' },
    redirect: 'error',
    signal: AbortSignal.timeout(patienceMs),
  });
  const body = await response.text();
  const latencyMs = performance.now() - startedAt;
  if (response.status === 401) {
    apiKey = undefined;
    // It may have been rotated.
    if (isKept) return probe();
  }
  if (response.status !== 200) throw new Error(`status ${response.status} instead of 200`);
  const type = response.headers.get('content-type');
  if (type !== 'application/json') throw new Error(`content type ${type}`);
  if (!isPage(JSON.parse(body))) throw new Error('the body is not a page of one pet');
  return latencyMs;
};

/** `fetch` gives its reason as the cause. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause ? `${error} (${error.cause})` : `${error}`;

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
const writeLine = (values: Readonly<Record<string, number>>, failure?: string): void => {
  const Metrics = Object.keys(values).map((Name) => ({
    Name,
    Unit: Name === probeMetricNames.latency ? 'Milliseconds' : 'Count',
  }));
  const line = {
    level: failure === undefined ? 'INFO' : 'ERROR',
    message: failure === undefined ? 'The probe was answered' : 'The probe failed',
    failure,
    service: variable('SERVICE_NAME'),
    ...values,
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [{ Namespace: metricsNamespace, Dimensions: [['service']], Metrics }],
    },
  };
  // Not console.log, which Lambda gives a prefix (https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html).
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

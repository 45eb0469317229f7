/** The CloudWatch namespace of the service's metrics. */
export const metricsNamespace = 'AnimalStore';

/**
 * What the functions count and measure, with exactly the dimensions `service` and `operation`. A count of zero is not
 * written: an alarm or a ratio must take a missing value as 0, as `FILL(errors, 0) / requests` does.
 */
export const metricNames = {
  /** Requests that reached the function. */
  requests: 'Requests',
  /** Responses from 400 to 499. */
  clientErrors: 'ClientErrors',
  /** Responses from 500 on. */
  serverErrors: 'ServerErrors',
  /** Responses 401, which are client errors too. */
  authFailures: 'AuthFailures',
  /** Attempts that DynamoDB throttled, also when a retry succeeded. */
  throttles: 'Throttles',
  /** Requests with an Idempotency-Key that were answered with the pet of an earlier attempt. */
  idempotentReplays: 'IdempotentReplays',
  /** Time that a request waited for one call of DynamoDB, its retries and pauses included, in ms. */
  dynamodbLatency: 'DynamoDBLatency',
} as const;

/** The name of a metric of the service's own. */
export type MetricName = (typeof metricNames)[keyof typeof metricNames];

/** What is counted and measured by `version` of the function too: `service`, `operation` and `version` are its dimensions. */
export const versionMetricNames = {
  requests: metricNames.requests,
  serverErrors: metricNames.serverErrors,
  /** Duration of a request in the function, its first one's initialisation left out, in ms. */
  latency: 'Latency',
} as const;

/** What the probe records of each request to the public base address, with exactly the dimension `service`. */
export const probeMetricNames = {
  /** 1 for the expected answer, else 0. */
  success: 'ProbeSuccess',
  /** Duration until the answer was read, in ms. */
  latency: 'ProbeLatency',
} as const;

/** The CloudWatch namespace of the service's metrics. */
export const metricsNamespace = 'AnimalStore';

/**
 * The metrics of each operation. Their dimensions are exactly `service` and `operation`. A count of zero is
 * not written. An alarm or a ratio must therefore treat a missing value as 0, as
 * `FILL(errors, 0) / requests` does.
 */
export const metricNames = {
  /** Requests that reached the function. */
  requests: 'Requests',
  /** Responses with a status from 400 to 499. */
  clientErrors: 'ClientErrors',
  /** Responses with a status of 500 or more. */
  serverErrors: 'ServerErrors',
  /** Responses with the status 401. `ClientErrors` counts them too. */
  authFailures: 'AuthFailures',
  /** Requests to a deprecated operation with a valid key, without the checks of the stage itself. */
  deprecatedCalls: 'DeprecatedCalls',
  /** The duration of one call to DynamoDB with its retries and the pauses between them, in ms. */
  dynamodbLatency: 'DynamoDBLatency',
} as const;

/** The name of a metric in `metricNames`. */
export type MetricName = (typeof metricNames)[keyof typeof metricNames];

/** The metrics of each version of a function. Their dimensions are `service`, `operation` and `version`. */
export const versionMetricNames = {
  requests: metricNames.requests,
  serverErrors: metricNames.serverErrors,
  /** The duration of a request in the function, without the initialisation of a cold start, in ms. */
  latency: 'Latency',
} as const;

/**
 * The metric of the request that the probe sends to the public base address: 1 for the expected response, 0
 * for any other. Its only dimension is `service`.
 */
export const probeMetricName = 'ProbeSuccess';

import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { DynamoDBDocumentClient, NumberValue } from '@aws-sdk/lib-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import type { MiddlewareStack } from '@smithy/types';
import { exactNumber } from '../contract/exact-json.ts';
import { environment } from '../environment.ts';
import { elapsedMs, instantMs } from '../telemetry/elapsed-ms.ts';
import { metricNames } from '../telemetry/metric-names.ts';
import { count, recordDynamodbLatency } from '../telemetry/telemetry.ts';
import { readAnswer } from './read-answer.ts';
import { isThrottled } from './retryable.ts';

const maxAttempts = 3;

/** How long an attempt may take, from connecting to the last byte of the answer, in ms. */
const attemptMs = 1_000;

/** Full jitter: up to 50 ms after the first attempt, 100 ms after the second. The SDK's own pause after a throttle takes seconds. */
const backoffMs = (attempt: number) => Math.random() * 25 * 2 ** attempt;

const region = environment('AWS_REGION');

/** The address in the SDK's variables, else that of DynamoDB in the function's own region (AWS, AWS China or GovCloud). */
const endpoint = new URL(
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] ||
    process.env['AWS_ENDPOINT_URL'] ||
    `https://dynamodb.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
);

// The SDK looks for other settings in files and services that a function does not have.
const client = new DynamoDBClient({
  region,
  credentials: fromEnv(),
  endpointProvider: () => ({ url: endpoint }),
  ignoreConfiguredEndpointUrls: true,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  accountIdEndpointMode: 'disabled',
  authSchemePreference: [],
  disableClockSkewCorrection: false,
  maxAttempts,
  userAgentAppId: 'animal-store',
  // These time-outs end when the headers arrive; `readAnswer` limits the time for the body.
  requestHandler: {
    connectionTimeout: attemptMs / 2,
    requestTimeout: attemptMs,
    throwOnRequestTimeout: true,
  },
});

// A strategy for each request: a shared one stops retrying when an outage has spent its budget.
// If we did not retry after a lost answer, the client would, and could create its pet twice.
client.config.retryStrategy = async () => new ConfiguredRetryStrategy(maxAttempts, backoffMs);

// A configured logger would log a failed call with its table name and item.
if (!client.middlewareStack.remove('loggerMiddleware')) {
  throw new Error('The SDK has no loggerMiddleware any more: look for what logs its failed calls');
}

// This middleware would send a trace id for Lambda's loop detection, which does not cover DynamoDB.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
client.middlewareStack.remove('recursionDetectionMiddleware');

client.middlewareStack.add(
  (next) => async (args) => {
    const startedAt = instantMs();
    const result = await next(args);
    const { response } = result;
    if (HttpResponse.isInstance(response)) {
      response.body = await readAnswer(response, attemptMs - elapsedMs(startedAt));
    }
    return result;
  },
  // Next to the request handler.
  { name: 'readAnswer', step: 'deserialize', priority: 'low' },
);

client.middlewareStack.add(
  (next) => async (args) => {
    try {
      return await next(args);
    } catch (error) {
      if (isThrottled(error)) count(metricNames.throttles);
      if (error instanceof Error && mayPass(error)) Object.assign(error, { $retryable: {} });
      throw error;
    }
  },
  // Inside the SDK's retries, around each attempt.
  { name: 'inspectFailure', step: 'finalizeRequest', priority: 'low' },
);

/** Failures that a retry may fix although the SDK takes them as final: TLS, Node's HTTP parser, `checkAnswer`, expired credentials. */
const mayPass = (error: Error) =>
  !(error instanceof DynamoDBServiceException) || error.name === 'ExpiredTokenException';

client.middlewareStack.add(
  (next) => async (args) => {
    const startedAt = instantMs();
    try {
      return await next(args);
    } finally {
      recordDynamodbLatency(elapsedMs(startedAt));
    }
  },
  // Around all attempts: the metric is the time that a request waits.
  { name: 'measureLatency', step: 'initialize' },
);

/** A stored number: a `bigint` for an unsafe integer, a `NumberValue` with DynamoDB's digits if neither type is exact. */
const storedNumber = (digits: string): number | bigint | NumberValue => {
  const number = exactNumber(digits);
  return Number.isNaN(number) ? NumberValue.from(digits) : number;
};

/** The DynamoDB client of a function, reused over invocations. Throws the SDK's errors. Numbers keep every digit. */
export const dynamodb = DynamoDBDocumentClient.from(client, {
  unmarshallOptions: { wrapNumbers: storedNumber },
});

/** Makes an attempt of a command fail when `check` throws for its answer, so that the SDK retries it. */
export const checkAnswer = <Input extends object, Output extends object>(
  { middlewareStack }: { readonly middlewareStack: MiddlewareStack<Input, Output> },
  check: (output: Output) => void,
): void => {
  middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      check(result.output);
      return result;
    },
    // The document client adds a command's middleware twice.
    { name: 'checkAnswer', step: 'finalizeRequest', priority: 'low', override: true },
  );
};

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { DynamoDBDocumentClient, NumberValue } from '@aws-sdk/lib-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { exactNumber } from '../contract/exact-json.ts';
import { environment } from '../environment.ts';
import { elapsedMs, instantMs } from '../telemetry/elapsed-ms.ts';
import { readAnswer } from './read-answer.ts';

const maxAttempts = 3;

/** The time limit of an attempt, from connecting to the last byte of the answer, in ms. */
const attemptMs = 1_000;

/**
 * Returns the pause after an attempt in ms, with full jitter: up to 50 ms after the first attempt, and up to
 * 100 ms after the second. The SDK's own pause after a throttle takes seconds.
 */
const backoffMs = (attempt: number) => Math.random() * 25 * 2 ** attempt;

const region = environment('AWS_REGION');

/**
 * The endpoint: the one in the SDK's variables, or else that of DynamoDB in the function's own region
 * (AWS, AWS China or GovCloud).
 */
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

// Each request has a strategy of its own. A shared one stops retrying when an outage has used up its budget.
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
      // The SDK would pause for as long as these headers ask, up to 5 s.
      delete response.headers['retry-after'];
      delete response.headers['x-amz-retry-after'];
      response.body = await readAnswer(response, attemptMs - elapsedMs(startedAt));
    }
    return result;
  },
  // This runs next to the request handler.
  { name: 'readAnswer', step: 'deserialize', priority: 'low' },
);

/**
 * Converts a stored number: to a `bigint` for an unsafe integer, and to a `NumberValue` with DynamoDB's
 * digits if neither type is exact.
 */
const storedNumber = (digits: string): number | bigint | NumberValue => {
  const number = exactNumber(digits);
  return Number.isNaN(number) ? NumberValue.from(digits) : number;
};

/**
 * The DynamoDB client of a function, which is reused for later invocations. Throws the SDK's errors.
 * Numbers keep every digit.
 */
export const dynamodb = DynamoDBDocumentClient.from(client, {
  unmarshallOptions: { wrapNumbers: storedNumber },
});

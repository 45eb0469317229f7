import type { Readable } from 'node:stream';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { exactNumber } from '../contract/exact-json.ts';
import { metricNames } from '../contract/metric-names.ts';
import { elapsedMs, instantMs } from './elapsed-ms.ts';
import { environment } from './environment.ts';
import { count, recordDynamodbLatency } from './metrics.ts';
import { isThrottled } from './retryable.ts';

const maxAttempts = 3;

/** Full jitter up to 50, 100, … at most 400 ms; the SDK's own pause after a throttle is seconds long. */
const backoffMs = (attempt: number) => Math.random() * Math.min(400, 25 * 2 ** attempt);

const region = environment('AWS_REGION');

/** DynamoDB in the function's own region, of AWS, AWS China or GovCloud, or where the SDK's own variables say. */
const endpoint = new URL(
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] ||
    process.env['AWS_ENDPOINT_URL'] ||
    `https://dynamodb.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
);

// What is not set here the SDK looks for in files and services that a function does not have:
// the bundle leaves out that code (infra/lambda/left-out-modules.ts).
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
  requestHandler: { connectionTimeout: 500, requestTimeout: 1_000, throwOnRequestTimeout: true },
  // The SDK's own loads Node's web streams, only to find that an answer is none.
  streamCollector: (body: Readable) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      body
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => resolve(Buffer.concat(chunks)))
        .on('error', reject);
    }),
});

// A strategy for each request: a shared one stops retrying when an outage has spent its budget,
// and a lost answer that is not asked for again makes the client create its pet twice.
client.config.retryStrategy = async () => new ConfiguredRetryStrategy(maxAttempts, backoffMs);

// It prepares every answer for a log that nobody reads, and would log a failed call with table name and item.
if (!client.middlewareStack.remove('loggerMiddleware')) {
  throw new Error('The SDK has no loggerMiddleware any more: look for what logs its failed calls');
}

/** Failures that the SDK takes as final though another attempt can mend them: an answer that is no JSON, old credentials. */
const alsoRetryable = new Set(['SyntaxError', 'ExpiredTokenException']);

client.middlewareStack.add(
  (next) => async (args) => {
    try {
      return await next(args);
    } catch (error) {
      if (isThrottled(error)) count(metricNames.throttles);
      if (error instanceof Error && alsoRetryable.has(error.name)) {
        Object.assign(error, { $retryable: {} });
      }
      throw error;
    }
  },
  // Inside of the SDK's retries, around each attempt.
  { name: 'inspectFailure', step: 'finalizeRequest', priority: 'low' },
);

client.middlewareStack.add(
  (next) => async (args) => {
    const startedAt = instantMs();
    try {
      return await next(args);
    } finally {
      recordDynamodbLatency(elapsedMs(startedAt));
    }
  },
  // Around all attempts: the metric is what a request waits for.
  { name: 'measureLatency', step: 'initialize' },
);

/** The DynamoDB client of a function, reused over invocations. Throws the SDK's errors. Integers beyond 2^53 are `bigint`. */
export const dynamodb = DynamoDBDocumentClient.from(client, {
  unmarshallOptions: { wrapNumbers: exactNumber },
});

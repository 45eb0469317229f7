import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';

const maxAttempts = 3;

/** Full jitter up to 50, 100, … at most 400 ms; the SDK's own pause after a throttle is seconds long. */
const backoffMs = (attempt: number) => Math.random() * Math.min(400, 25 * 2 ** attempt);

const client = new DynamoDBClient({
  retryStrategy: new ConfiguredRetryStrategy(maxAttempts, backoffMs),
  requestHandler: {
    connectionTimeout: 500,
    requestTimeout: 1_000,
    throwOnRequestTimeout: true,
  },
});

// It prepares every answer for a log that nobody reads, and would log a failed call with table name and item.
client.middlewareStack.remove('loggerMiddleware');

/** The one client of DynamoDB in a function, reused over invocations. Its errors are the SDK's. */
export const dynamodb = DynamoDBDocumentClient.from(client);

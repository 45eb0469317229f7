import type { IncomingMessage } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { DynamoDBDocumentClient, NumberValue } from '@aws-sdk/lib-dynamodb';
import { exactNumber } from '../contract/exact-json.ts';
import { environment, optionalEnvironment } from '../environment.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';

const region = environment('AWS_REGION');

/** The endpoint: the one in the SDK's variables, or else that of DynamoDB in the function's own region. */
const endpoint = new URL(
  optionalEnvironment('AWS_ENDPOINT_URL_DYNAMODB') ??
    optionalEnvironment('AWS_ENDPOINT_URL') ??
    `https://dynamodb.${region}.amazonaws.com`,
);

const openingBrace = '{'.charCodeAt(0);

/**
 * Reads a body to its last byte. Throws for a 2xx that is not a JSON object, which the SDK would read as
 * `{}`. TLS protects every byte on its way (RFC 8446 §1), so only a defect at an end of the connection, in
 * DynamoDB, Node.js or the SDK, can lead to such a body. Therefore `x-amz-crc32` is not checked.
 */
const readBody = async (response: IncomingMessage): Promise<Uint8Array> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (Number(response.statusCode) < 300 && bytes[0] !== openingBrace)
    throw new LoggableError('The response is not a JSON object');
  return bytes;
};

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
  // `withRetries` retries, and limits the time of each attempt.
  retryMode: 'standard',
  maxAttempts: 1,
  userAgentAppId: 'animal-store',
  requestHandler: {},
  streamCollector: readBody,
});

// A configured logger would log a failed call with its table name and item.
if (!client.middlewareStack.remove('loggerMiddleware')) {
  throw new Error('The SDK has no loggerMiddleware any more: look for what logs its failed calls');
}

/**
 * Converts a stored number: to a `bigint` for an unsafe integer, and to a `NumberValue` with DynamoDB's
 * digits if neither type is exact.
 */
export const storedNumber = (digits: string): number | bigint | NumberValue => {
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

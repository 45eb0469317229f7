import type { APIGatewayProxyResult } from 'aws-lambda';
import { stringifyJson } from '../contract/exact-json.ts';

/** Returns a response with a JSON body. No cache may store it, because it depends on the API key. */
export const json = (
  statusCode: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  body: stringifyJson(body),
});

/** Returns a response without a body. */
export const noContent = (headers: Readonly<Record<string, string>>): APIGatewayProxyResult => ({
  statusCode: 204,
  headers: { 'Cache-Control': 'no-store', ...headers },
  body: '',
});

import type { Request } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { RequestLog } from '../telemetry/request-log.ts';

/** The request of an API Gateway REST API. Its body is parsed if the operation takes one. */
export type OperationEvent = Omit<APIGatewayProxyEvent, 'body'> & { body: unknown };

/** Lambda's context with the values that every chain adds to it. */
export interface ChainContext extends Context {
  /** The time at which the request arrived, an instant of `instantMs`. */
  startedAt: number;
  log: RequestLog;
  /** The public id of the request's API key; absent until the key is known to be valid. */
  keyId?: string;
}

/** The request that a middleware of every chain gets. */
export type ChainRequest = RequestWith<unknown>;

/**
 * The request of a middleware that reads or adds values of the context, of the event, or of Middy's
 * `internal`. A handler sees what all middleware of its chain declares.
 */
export type RequestWith<
  ContextValues,
  EventValues = unknown,
  Internal extends Record<string, unknown> = Record<never, never>,
> = Request<
  OperationEvent & EventValues,
  APIGatewayProxyResult,
  unknown,
  ChainContext & ContextValues,
  Internal
>;

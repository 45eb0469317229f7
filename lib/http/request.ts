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

/** The context with the values that an operation's middleware adds before the handler runs. */
export interface OperationContext extends ChainContext {
  /** The owner of the request's API key. */
  owner: string;
  /** A signal that aborts every call that would outlast the invocation. */
  signal: AbortSignal;
  /** The timer of `signal`. */
  deadline?: NodeJS.Timeout;
}

/** What a middleware gets that changes the context. */
export type WithContext<RequestContext extends Context> = MiddyRequest<RequestContext>;

type MiddyRequest<
  RequestContext extends Context,
  Internal extends Record<string, unknown> = Record<never, never>,
> = Request<OperationEvent, APIGatewayProxyResult, unknown, RequestContext, Internal>;

/** The request that a middleware of every chain gets. */
export type ChainRequest = MiddyRequest<ChainContext>;

/** The request that a middleware of an operation gets. */
export type OperationRequest = MiddyRequest<OperationContext>;

/** The request that a middleware of a request body gets. `internal.bodyText` is the body as text. */
export type BodyRequest = MiddyRequest<OperationContext, { bodyText: string }>;

/**
 * Returns all values of a request header. The name is given in lower case. The request
 * may spell it in any case.
 */
export const headerValues = (
  { multiValueHeaders }: Pick<APIGatewayProxyEvent, 'multiValueHeaders'>,
  name: string,
): string[] =>
  Object.keys(multiValueHeaders ?? {})
    .filter(
      (given) =>
        // Most headers differ in length, which is cheaper to compare.
        given.length === name.length && given.toLowerCase() === name,
    )
    .flatMap((given) => multiValueHeaders[given] ?? []);

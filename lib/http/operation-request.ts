import type { Request } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { RequestRecord } from '../telemetry/request-record.ts';

/** The request of an API Gateway REST API, its body parsed where the operation takes one. */
export type OperationEvent = Omit<APIGatewayProxyEvent, 'body'> & { body: unknown };

/** Lambda's context, and what every chain adds to it. */
export interface ChainContext extends Context {
  /** When the request came, an instant of `instantMs`. */
  startedAt: number;
  /** Of what the request's line will say. */
  record: RequestRecord;
  /** The public id of the request's API key; absent until the key is known to be valid. */
  keyId?: string;
}

/** What the middleware of an operation adds before the handler runs. */
export interface OperationContext extends ChainContext {
  /** The owner of the request's API key. */
  owner: string;
  /** Aborts every call that would outlast the invocation. */
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

/** What a middleware of every chain gets. */
export type ChainRequest = MiddyRequest<ChainContext>;

/** What a middleware of an operation gets. */
export type OperationRequest = MiddyRequest<OperationContext>;

/** What a middleware of a request body gets: the body as text is `internal.bodyText`. */
export type BodyRequest = MiddyRequest<OperationContext, { bodyText: string }>;

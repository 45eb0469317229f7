import { methodsOf } from '../../lib/contract/routes.ts';
import { operations } from '../../lib/operations/operations.ts';
import type { Handler, Handlers } from './load-handlers.ts';
import { type EventParts, lambdaContext, proxyEvent, resourceOf } from './proxy-event.ts';
import { bearer } from './requests.ts';

export interface InvokeOptions {
  readonly requestId?: string;
  readonly remainingMs?: number;
}

/** Runs a handler as Lambda does; `body` is the parsed body of its response. */
export const invoke = async (
  handler: Handler,
  parts: EventParts,
  { requestId = 'request-id', remainingMs = 10_000 }: InvokeOptions = {},
) => {
  const context = lambdaContext(requestId, remainingMs);
  const { statusCode: status, headers, body: text } = await handler(proxyEvent(parts), context);
  const body = text === '' ? undefined : JSON.parse(text);
  return { status, headers: { ...headers }, body, text };
};

/**
 * Sends requests to the handlers that API Gateway routes them to. By default a request has the API key, and
 * with a body the type JSON; a header without values is left out.
 */
export const senderTo = (handlers: Handlers, apiKey: string) => {
  const routes = new Map(
    operations.flatMap((operation) =>
      methodsOf(operation).map((method) => [
        `${method} ${operation.path}`,
        handlers[operation.name],
      ]),
    ),
  );
  return (parts: EventParts = {}, options?: InvokeOptions) => {
    const { method = 'GET', resource = resourceOf(parts), body } = parts;
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const headers = { ...bearer(apiKey), ...json, ...parts.headers };
    return invoke(
      routes.get(`${method} ${resource}`) ?? handlers.fallback,
      { ...parts, headers },
      options,
    );
  };
};

/** Sends one request to the handlers. */
export type Send = ReturnType<typeof senderTo>;

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import {
  type GatewayRequest,
  headersOf,
  headerValuesOf,
  newRequestIds,
  proxyEvent,
} from '../../../lib/api-gateway/proxy-event.ts';
import { FunctionError, type Invocation } from '../lambda/lambda-function.ts';
import { localAccount } from '../local-account.ts';
import { type GatewayErrorName, gatewayResponse } from './gateway-response.ts';
import { processOnPort } from './process-on-port.ts';
import { type GatewayReply, parseProxyReply } from './proxy-reply.ts';
import { bodyTooLong, headersTooLong, maxHeaderBytes, readBody } from './request-limits.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';
import { matchRoute } from './router.ts';
import { Throttles } from './throttles.ts';

/**
 * Lambda's limit for the size of an event, in bytes. The event of a body within API Gateway's own limit can
 * exceed it (koki-develop/lgtm-generator#10).
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const maxEventBytes = 6 * 1_024 * 1_024;

/** The account and the id of the REST API in events. */
const localApi = { accountId: localAccount, apiId: 'local' };

/** A REST API with the functions that its routes call, by logical id. */
interface Deployment {
  readonly api: RestApiDefinition;
  readonly functions: ReadonlyMap<string, ProxyFunction>;
  readonly site?: Site | undefined;
}

/** A function that the gateway calls with a proxy event. Its result is JSON. */
export interface ProxyFunction {
  readonly invoke: (
    invocation: Invocation & { readonly event: APIGatewayProxyEvent },
  ) => Promise<string>;
}

/** Responds to a request that is not for the REST API. Returns false for a request that is. */
export type Site = (message: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** A request, its path without the query, and the response to it. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

export interface GatewayOptions {
  /** The port to listen on; 0 for any free port. */
  readonly port: number;
  /** Called with a line for each request that failed in the gateway, or whose reply was malformed. */
  readonly log: (line: string) => void;
  /** Called with each request that was answered. */
  readonly exchange?: ((exchange: Exchange) => void) | undefined;
  /**
   * With `true`, throttles each method as the stage does. A number throttles each method to that many
   * requests per second. By default there is no throttle.
   */
  readonly throttle?: true | number | undefined;
}

/**
 * Starts a gateway on 127.0.0.1 that behaves like API Gateway with a REST API. Throws an error with a
 * one-line message when it can't listen on the port.
 */
export const startGateway = async (options: GatewayOptions) => {
  const { port, log, exchange, throttle } = options;
  const first = Promise.withResolvers<Deployment>();
  let deployed: Deployment | Promise<Deployment> = first.promise;
  const throttles = new Throttles(throttle);
  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const start = performance.now();
    const request = received(message);
    response.once('finish', () => {
      const { method, path } = request;
      const ms = Math.round(performance.now() - start);
      exchange?.({ method, path, status: response.statusCode, ms });
    });
    const deployment = await deployed;
    if (await deployment.site?.(message, response)) return;
    const body = await readBody(message);
    if (body === undefined) return send(response, bodyTooLong);
    const surroundings = { ...deployment, throttles, origin: originOf(server), log };
    send(response, withIds(request, await answer(surroundings, request, body)));
  };
  // Unverified: whether API Gateway passes on a request without a Host header (`host-missing`).
  const server = createServer({ maxHeaderSize: maxHeaderBytes, requireHostHeader: false });
  server.on('request', (message, response) =>
    respond(message, response).catch((error) => {
      // A client may leave in the middle of its body.
      if (!response.destroyed) log(`${error}`);
      response.destroy();
    }),
  );
  // Node itself would send an empty response.
  const refuse = async (error: Error, socket: Duplex) => {
    if (!(socket instanceof Socket && socket.writable)) return void socket.destroy();
    const response = new ServerResponse(new IncomingMessage(socket));
    // This throws while the socket has a response, either to an earlier request or to an invalid body.
    response.assignSocket(socket);
    response.once('finish', () => socket.end());
    if ('code' in error && error.code === 'HPE_HEADER_OVERFLOW') {
      return send(response, headersTooLong);
    }
    const { api } = await deployed;
    send(response, withIds(newRequestIds(), gatewayResponse(api, 'badRequest')));
  };
  server.on('clientError', (error, socket) => refuse(error, socket).catch(() => socket.destroy()));
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new Error(await whyNotListening(port, error), { cause: error });
  }
  return {
    /** The scheme, host and port. */
    origin: originOf(server),
    /** Serves a deployment from the next request on; until the first one, requests wait. */
    deploy: (deployment: Deployment): void => {
      deployed = deployment;
      first.resolve(deployment);
    },
    stop: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const originOf = (server: Server) => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
};

const whyNotListening = async (port: number, error: unknown): Promise<string> => {
  const code = error instanceof Error && 'code' in error ? error.code : error;
  const choice = 'choose another port with npm start -- --port <number>';
  if (code !== 'EADDRINUSE') return `Can't listen on port ${port} (${code}): ${choice}.`;
  const holder = (await processOnPort(port)) ?? 'another program';
  return `Can't listen on port ${port}, because ${holder} listens there. Stop it, or ${choice}.`;
};

const received = (message: IncomingMessage): GatewayRequest => {
  const headers = headersOf(message);
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(message.url ?? '') ?? [];
  const ids = newRequestIds();
  return {
    ...ids,
    traceId: headerValuesOf({ headers }, 'x-amzn-trace-id').at(-1) ?? ids.traceId,
    method: message.method ?? 'GET',
    // Slashes before the stage count as one, as LocalStack recorded (infra/local/aws-behaviour.md).
    path: path.replace(/^\/+/, '/'),
    query,
    headers,
    port: message.socket.localPort ?? 0,
  };
};

/** Everything on which the response to a request depends. */
interface Surroundings extends Deployment, Pick<GatewayOptions, 'log'> {
  readonly throttles: Throttles;
  readonly origin: string;
}

const answer = async (
  { api, functions, throttles, origin, log }: Surroundings,
  request: GatewayRequest,
  body: string,
): Promise<GatewayReply> => {
  const { requestId, traceId, method } = request;
  const refusal = (name: GatewayErrorName) => gatewayResponse(api, name);
  // AWS refuses a percent sign that does not start an escape (ustayready/fireprox#27,
  // adamchainz/apig-wsgi#102).
  if (/%(?![\da-f]{2})/i.test(request.path + request.query)) return refusal('badRequest');
  // Slashes after the stage count as one, as LocalStack recorded (infra/local/aws-behaviour.md).
  const [, stage, rest] = /^\/([^/]*)\/*(.*)$/.exec(request.path) ?? [];
  if (stage !== api.stageName) {
    const baseAddress = `${origin}/${api.stageName}`;
    log(`${method} ${request.path} is outside the base address, ${baseAddress}`);
    return refusal('noSuchStage');
  }
  const path = `/${rest}`;
  const route = matchRoute(api.routes, method, path);
  const [authorization = ''] = headerValuesOf(request, 'authorization');
  if (!route)
    return refusal(/^bearer /i.test(authorization) ? 'tokenIsNoSignature' : 'noSuchRoute');
  if (!throttles.allow(route, performance.now())) return refusal('throttled');
  const event = proxyEvent(request, { ...route, api: localApi, stage, path }, body);
  if (Buffer.byteLength(JSON.stringify(event)) > maxEventBytes) return refusal('tooLarge');
  try {
    const called = functions.get(route.functionId);
    if (!called) throw new Error(`No function ${route.functionId} is deployed`);
    // A timer that is still running would keep the result in memory.
    const timer = new AbortController();
    const result = await Promise.race([
      called.invoke({ requestId: randomUUID(), traceId, event }),
      setTimeout(route.timeoutMs, undefined, { signal: timer.signal }),
    ]).finally(() => timer.abort());
    if (result === undefined) return refusal('timedOut');
    const reply = parseProxyReply(result);
    return { ...reply, headers: [...reply.headers, ['X-Amzn-Trace-Id', traceId]] };
  } catch (error) {
    if (error instanceof FunctionError) return refusal('functionFailed');
    log(`${requestId} Malformed Lambda proxy response: ${error}`);
    return refusal('malformedReply');
  }
};

/** Adds the ids that API Gateway gave a request to its response. */
const withIds = (
  { requestId, extendedRequestId }: ReturnType<typeof newRequestIds>,
  { status, headers, body }: GatewayReply,
): GatewayReply => ({
  status,
  headers: [...headers, ['x-amzn-RequestId', requestId], ['x-amz-apigw-id', extendedRequestId]],
  body,
});

const send = (response: ServerResponse, { status, headers, body }: GatewayReply) => {
  const length = ['Content-Length', `${Buffer.byteLength(body)}`];
  // Node.js leaves out the body of a response that must not have one.
  response.writeHead(status, [...headers, length].flat()).end(body);
};

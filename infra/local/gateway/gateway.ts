import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { FunctionError, type Invocation } from '../lambda/lambda-function.ts';
import { GatewayError, gatewayResponse } from './gateway-response.ts';
import { type GatewayRequest, headersOf, headerValuesOf, proxyEvent } from './proxy-event.ts';
import { type GatewayReply, parseProxyReply } from './proxy-reply.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';
import { matchRoute } from './router.ts';

/**
 * Lambda's limit of an event, which a body of API Gateway's own limit exceeds (row 85 of aws-recorded.md).
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const maxEventBytes = 6 * 1_024 * 1_024;
/**
 * API Gateway's limit of the request line and the headers together. Unverified: the response to more.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const maxHeaderBytes = 10_240;

/** A REST API with the functions that its routes call, by logical id. */
interface Deployment {
  readonly api: RestApiDefinition;
  readonly functions: ReadonlyMap<string, ProxyFunction>;
}

/** A function as the gateway calls it, with a proxy event; its result is JSON. */
export interface ProxyFunction {
  readonly invoke: (
    invocation: Invocation & { readonly event: APIGatewayProxyEvent },
  ) => Promise<string>;
}

/** Responds to requests beside the REST API; returns false to leave a request to the API. */
export type Site = (message: IncomingMessage, response: ServerResponse) => Promise<boolean>;

export interface Gateway {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Serves a deployment from the next request on; until the first one, requests wait. */
  readonly deploy: (deployment: Deployment) => void;
  readonly publish: (site: Site) => void;
  readonly stop: () => Promise<void>;
}

/** A request, and how it was answered. */
export interface Exchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

export interface GatewayOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Gets a line for each reply of a function that no client could be given. */
  readonly log: (line: string) => void;
  /** Gets each request that was answered. */
  readonly exchange?: ((exchange: Exchange) => void) | undefined;
}

/**
 * Listens on 127.0.0.1 and behaves, to a client, like API Gateway before a REST API. Throws an error of one line when
 * it can't listen on the port.
 */
export const startGateway = async ({ port, log, exchange }: GatewayOptions): Promise<Gateway> => {
  const first = Promise.withResolvers<Deployment>();
  let deployed = first.promise;
  let beside: Site | undefined;
  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const start = performance.now();
    const request = received(message);
    response.once('finish', () => {
      const { method, path } = request;
      const ms = Math.round(performance.now() - start);
      exchange?.({ method, path, status: response.statusCode, ms });
    });
    if (await beside?.(message, response).catch((error) => log(`${error}`))) return;
    const deployment = await deployed;
    try {
      send(response, request, await answer(deployment, request, `${await buffer(message)}`));
    } catch (error) {
      // The client has gone, in the middle of its body perhaps.
      if (response.destroyed) return;
      const name = nameOf(error);
      if (name === 'malformedReply') log(`${request.requestId} ${error}`);
      send(response, request, gatewayResponse(deployment.api, name));
    }
  };
  // Whether API Gateway passes on a request without a Host header is unverified.
  const server = createServer({ maxHeaderSize: maxHeaderBytes, requireHostHeader: false });
  server.on('request', respond);
  server.on('clientError', async (_cause, socket) =>
    refuse(socket, gatewayResponse((await deployed).api, 'badRequest')),
  );
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(
      `Can't listen on port ${port} (${code}). Stop the program that listens there, or set PORT to another port.`,
    );
  }
  const address = server.address();
  const actualPort = typeof address === 'object' ? address?.port : port;
  return {
    origin: `http://127.0.0.1:${actualPort}`,
    deploy: (deployment) => {
      first.resolve(deployment);
      deployed = Promise.resolve(deployment);
    },
    publish: (site) => {
      beside = site;
    },
    stop: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

const nameOf = (error: unknown) => {
  if (error instanceof GatewayError) return error.name;
  return error instanceof FunctionError ? 'functionFailed' : 'malformedReply';
};

const received = (message: IncomingMessage): GatewayRequest => {
  const headers = headersOf(message);
  const [, path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(message.url ?? '') ?? [];
  return {
    requestId: randomUUID(),
    extendedRequestId: `${randomBytes(11).toString('base64url')}=`,
    traceId: headerValuesOf({ headers }, 'x-amzn-trace-id').at(-1) ?? newTraceId(),
    method: message.method ?? 'GET',
    // Slashes before the stage count as one (row 17 of aws-recorded.md).
    path: path.replace(/^\/+/, '/'),
    query,
    headers,
    sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
    port: message.socket.localPort ?? 0,
    protocol: `HTTP/${message.httpVersion}`,
  };
};

const newTraceId = () =>
  `Root=1-${Math.floor(Date.now() / 1_000).toString(16)}-${randomBytes(12).toString('hex')}`;

const answer = async (
  { api, functions }: Deployment,
  request: GatewayRequest,
  body: string,
): Promise<GatewayReply> => {
  // A percent sign that starts no escape (row 43 of aws-recorded.md).
  if (/%(?![\da-f]{2})/i.test(request.path + request.query)) throw new GatewayError('badRequest');
  const path = pathInStage(request.path, api.stageName);
  if (path === undefined) throw new GatewayError('noSuchStage');
  const match = matchRoute(api.routes, request.method, path);
  if (!match)
    throw new GatewayError(hasBearerToken(request) ? 'tokenIsNoSignature' : 'noSuchRoute');
  const event = proxyEvent(request, match, { stage: api.stageName, path }, body);
  if (Buffer.byteLength(JSON.stringify(event)) > maxEventBytes) throw new GatewayError('tooLarge');
  const { functionId, timeoutMs } = match.route;
  const called = functions.get(functionId);
  if (!called) throw new Error(`No function ${functionId} is deployed`);
  const { traceId } = request;
  const invocation = called.invoke({ requestId: randomUUID(), traceId, event });
  const reply = parseProxyReply(await inTime(invocation, timeoutMs));
  return { ...reply, headers: [...reply.headers, ['X-Amzn-Trace-Id', traceId]] };
};

/** The path below the stage, where slashes at its start count as one (row 16); undefined outside the stage. */
const pathInStage = (path: string, stageName: string): string | undefined => {
  const [, stage, ...rest] = path.split('/');
  return stage === stageName ? `/${rest.join('/').replace(/^\/+/, '')}` : undefined;
};

const hasBearerToken = (request: GatewayRequest) =>
  headerValuesOf(request, 'authorization').some((value) => /^bearer /i.test(value));

const inTime = <Value>(work: Promise<Value>, ms: number): Promise<Value> => {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new GatewayError('timedOut')), ms);
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
};

const send = (response: ServerResponse, request: GatewayRequest, reply: GatewayReply) => {
  const body = Buffer.from(reply.body);
  const isBodiless = reply.status === 204 || reply.status === 304;
  response.writeHead(
    reply.status,
    [
      ...reply.headers,
      ...(isBodiless ? [] : [['Content-Length', `${body.length}`] as const]),
      ['x-amzn-RequestId', request.requestId] as const,
      ['x-amz-apigw-id', request.extendedRequestId] as const,
    ].flat(),
  );
  response.end(isBodiless || request.method === 'HEAD' ? undefined : body);
};

/** Answers where Node itself would send an empty response. */
const refuse = (socket: Duplex, { status, headers, body }: GatewayReply) => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `x-amzn-RequestId: ${randomUUID()}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
};

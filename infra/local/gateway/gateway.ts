import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { ErrorBody } from '../../../lib/contract/error-body.ts';
import { maxHeaderBytes } from '../../../lib/contract/limits.ts';
import { createProxyEvent } from '../../../lib/gateway-events/create-proxy-event.ts';
import {
  type GatewayRequest,
  headersOf,
  headerValuesOf,
  newRequestIds,
} from '../../../lib/gateway-events/gateway-request.ts';
import { FunctionError, type Invocation } from '../lambda/local-function.ts';
import { localAccount } from '../local-account.ts';
import { serveDocs } from '../serve-docs.ts';
import { type GatewayErrorName, gatewayResponse, noSuchStage } from './gateway-response.ts';
import { type HttpResponse, parseProxyOutput } from './proxy-output.ts';
import type { RestApiDefinition } from './rest-api-definition.ts';
import { matchRoute } from './router.ts';

/**
 * Lambda's limit of an event, in bytes. API Gateway's own limit of a body is higher.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const maxEventBytes = 6 * 1_024 * 1_024;

/** The account and the id of the REST API in events. */
const localApi = { accountId: localAccount, apiId: 'local' };

/** A REST API with the functions that its routes call, by logical id. */
interface DeployedApi {
  readonly api: RestApiDefinition;
  readonly functions: ReadonlyMap<string, ProxyFunction>;
}

/** A function that the gateway calls with a proxy event. Its result is JSON. */
export interface ProxyFunction {
  readonly invoke: (
    invocation: Invocation & { readonly event: APIGatewayProxyEvent },
  ) => Promise<string>;
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** A request, its path without the query, and the response to it. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The body of an error. */
  readonly error: ErrorBody | undefined;
  readonly ms: number;
}

export interface GatewayOptions {
  /** The port to listen on; 0 for any free port. */
  readonly port: number;
  /**
   * Called with a line for each request that failed in the gateway, or whose function returned a malformed
   * output.
   */
  readonly log: (line: string) => void;
  /** Called with each request and its response. */
  readonly exchange?: ((exchange: Exchange) => void) | undefined;
}

/**
 * Starts a gateway on 127.0.0.1 that behaves like API Gateway with a REST API, and serves the reference page
 * at `/docs/`. Throws an error with a one-line message when it can't listen on the port.
 */
export const startGateway = async ({ port, log, exchange }: GatewayOptions) => {
  const first = Promise.withResolvers<DeployedApi>();
  let deployed: DeployedApi | Promise<DeployedApi> = first.promise;
  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const start = performance.now();
    const request = received(message);
    const body = await readBody(message);
    if (await serveDocs(request, response, (await deployed).api.stageName)) return;
    // Read last, because a replaced function ends with its last request.
    const sent = await responseTo(await deployed, request, body, log);
    send(response, request, sent);
    const { method, path } = request;
    const ms = Math.round(performance.now() - start);
    exchange?.({ method, path, status: sent.status, error: errorOf(sent), ms });
  };
  const server = createServer({ maxHeaderSize: maxHeaderBytes });
  server.on('request', (message, response) =>
    respond(message, response).catch((error) => {
      // A client may leave in the middle of its body.
      if (!response.destroyed) log(`${error}`);
      response.destroy();
    }),
  );
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(
      `Can't listen on port ${port} (${reason}). Stop what listens there, or choose another port with npm start -- --port <number>.`,
      { cause: error },
    );
  }
  const address = server.address();
  return {
    /** The scheme, host and port. */
    origin: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    /** Serves a deployment from the next request on; until the first one, requests wait. */
    deploy: (deployment: DeployedApi): void => {
      deployed = deployment;
      first.resolve(deployment);
    },
    stop: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const received = (message: IncomingMessage): GatewayRequest => {
  const [, path = '', query = ''] = /^([^?]*)\??(.*)/.exec(message.url ?? '') ?? [];
  const headers = headersOf(message);
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

/** Reads the body of a request. Returns `undefined` for one that fits into no event. */
const readBody = async (message: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes <= maxEventBytes) chunks.push(chunk);
  }
  return bytes <= maxEventBytes ? `${Buffer.concat(chunks)}` : undefined;
};

/** Matches what browsers and their developer tools ask for by themselves. */
const askedByBrowsers = /^\/(?:favicon\.ico$|\.well-known\/)/;

const responseTo = async (
  { api, functions }: DeployedApi,
  request: GatewayRequest,
  body: string | undefined,
  log: GatewayOptions['log'],
): Promise<HttpResponse> => {
  const { requestId, traceId, method } = request;
  const refusal = (name: GatewayErrorName) => gatewayResponse(api, name);
  // Slashes after the stage count as one, as LocalStack recorded (infra/local/aws-behaviour.md).
  const [, stage, rest] = /^\/([^/]*)\/*(.*)$/.exec(request.path) ?? [];
  if (stage !== api.stageName) {
    if (!askedByBrowsers.test(request.path))
      log(`${method} ${request.path} is outside the base address, which ends in /${api.stageName}`);
    return noSuchStage;
  }
  const path = `/${rest}`;
  const route = matchRoute(api.routes, method, path);
  if (!route) return refusal('noSuchRoute');
  if (body === undefined) return refusal('tooLarge');
  const event = createProxyEvent(request, { ...route, api: localApi, stage, path }, body);
  if (Buffer.byteLength(JSON.stringify(event)) > maxEventBytes) return refusal('tooLarge');
  try {
    const called = functions.get(route.functionId);
    if (!called) throw new Error(`No function ${route.functionId} is deployed`);
    const output = parseProxyOutput(
      await called.invoke({ requestId: randomUUID(), traceId, event }),
    );
    return { ...output, headers: [...output.headers, ['X-Amzn-Trace-Id', traceId]] };
  } catch (error) {
    if (error instanceof FunctionError) return refusal('functionFailed');
    log(`${requestId} Malformed Lambda proxy response: ${error}`);
    return refusal('malformedOutput');
  }
};

const ErrorText = v.pipe(v.string(), v.parseJson(), ErrorBody);

const errorOf = ({ body }: HttpResponse): ErrorBody | undefined => {
  const { success, output } = v.safeParse(ErrorText, body);
  return success ? output : undefined;
};

/** Sends a response with the ids that API Gateway gave the request. */
const send = (
  response: ServerResponse,
  { requestId, extendedRequestId }: GatewayRequest,
  { status, headers, body }: HttpResponse,
) => {
  const all = [
    ...headers,
    ['x-amzn-RequestId', requestId],
    ['x-amz-apigw-id', extendedRequestId],
    ['Content-Length', `${Buffer.byteLength(body)}`],
  ];
  // Node.js leaves out the body of a response that must not have one.
  response.writeHead(status, all.flat()).end(body);
};

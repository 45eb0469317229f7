import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import { vi } from 'vitest';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { type ProxyFunction, startGateway } from '../../infra/local/gateway/gateway.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import { bundleName, functionNames } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import { type FunctionName, methodsOf } from '../../lib/contract/routes.ts';
import { operations } from '../../lib/operations/operations.ts';
import { discardLog } from './captured-log.ts';
import {
  bearer,
  type EventParts,
  eventWith,
  extendedRequestId,
  pairsOf,
  pathOf,
  resourceOf,
} from './events.ts';
import { expectPromised } from './expect-promised.ts';
import { FaultProxy } from './fault-proxy.ts';
import { functionEnvironment } from './function-environment.ts';
import { shared } from './shared.ts';
import { createTestTables } from './test-tables.ts';

/**
 * A handler as Lambda calls it. It is declared as a method, whose parameters may be narrower, because the
 * middleware of a handler adds to the event and the context what the handler reads of them besides.
 */
export type Handler = {
  call(event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult>;
}['call'];

export type Handlers = Readonly<Record<FunctionName, Handler>>;

/** How the handler of a bundle is loaded. */
export type Load = (bundle: string) => Promise<{ readonly handler: Handler }>;

const fromSources: Load = (bundle) => import(`../../functions/${bundle}.ts`);

/** The handlers as they are deployed. */
export const fromBundles: Load = async (bundle) =>
  createRequire(import.meta.url)(join(bundleDirectory(bundle), `${bundle}.cjs`));

/** Loads the handlers, which read the environment variables as they are now. */
export const loadHandlers = async (load = fromSources): Promise<Handlers> => {
  const handlers: Record<string, unknown> = {};
  for (const name of functionNames) handlers[name] = (await load(bundleName(name))).handler;
  return v.parse(AllHandlers, handlers);
};

const AllHandlers = v.object(
  v.entriesFromList(
    functionNames,
    v.custom<Handler>((value) => typeof value === 'function'),
  ),
);

/** Lambda's context with `remainingMs` left. */
export const lambdaContext = (awsRequestId: string, remainingMs = 10_000): Context => {
  const deadline = Date.now() + remainingMs;
  return {
    awsRequestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: 'test',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:test',
    memoryLimitInMB: '1024',
    logGroupName: 'test',
    logStreamName: 'test',
    getRemainingTimeInMillis: () => deadline - Date.now(),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
};

export interface InvokeOptions {
  readonly requestId?: string;
  readonly remainingMs?: number;
}

/**
 * Runs a handler as Lambda does; `body` is the parsed body of its response. It is for handlers of tests:
 * `send` also holds the responses of deployed handlers to the contract.
 */
export const invoke = async (
  handler: Handler,
  parts: EventParts,
  { requestId = 'request-id', remainingMs = 10_000 }: InvokeOptions = {},
) => {
  const context = lambdaContext(requestId, remainingMs);
  const { statusCode: status, headers, body: text } = await handler(eventWith(parts), context);
  const body = text === '' ? undefined : JSON.parse(text);
  return { status, headers: { ...headers }, body, text };
};

/** Expects a response of a handler to be one that API Gateway may pass on to a client. */
const expectPromisedBy = (
  { method = 'GET', headers = {}, query = {}, body, ...parts }: EventParts,
  { status, headers: received, text }: Awaited<ReturnType<typeof invoke>>,
) => {
  // API Gateway routes no path without a parameter to an operation that has it.
  const encoded = Object.entries(parts.path ?? {}).map(([name, value]) => [
    name,
    encodeURIComponent(value) || 'none',
  ]);
  const { resource = resourceOf(parts) } = parts;
  const path = pathOf({ resource, path: Object.fromEntries(encoded) });
  const search = new URLSearchParams(pairsOf(query));
  const named = Object.entries(received).map(([name, value]) => [name.toLowerCase(), `${value}`]);
  expectPromised(
    {
      // API Gateway drops the body of a response to HEAD.
      method: method === 'HEAD' ? 'GET' : method,
      path: search.size === 0 ? path : `${path}?${search}`,
      headers: pairsOf(headers),
      body,
    },
    {
      status,
      text,
      headers: { ...Object.fromEntries(named), 'x-amz-apigw-id': extendedRequestId },
    },
  );
};

/**
 * Sends requests to the handlers that API Gateway routes them to, and expects responses as the contract
 * promises them. By default a request has the API key, and with a body the type JSON; a header without values
 * is left out.
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
  return async (parts: EventParts = {}, options?: InvokeOptions) => {
    const { method = 'GET', resource = resourceOf(parts), body } = parts;
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const request = { ...parts, headers: { ...bearer(apiKey), ...json, ...parts.headers } };
    const handler = routes.get(`${method} ${resource}`) ?? handlers.fallback;
    const response = await invoke(handler, request, options);
    expectPromisedBy(request, response);
    return response;
  };
};

/** Sends one request to the handlers. */
export type Send = ReturnType<typeof senderTo>;

/** Halves the speed of timers and of `process.hrtime`, because a busy machine takes longer than Lambda. */
const slowClock = () => {
  const { setTimeout } = globalThis;
  const { bigint } = process.hrtime;
  vi.stubGlobal('setTimeout', (callback: () => void, ms = 0) => setTimeout(callback, ms * 2));
  process.hrtime.bigint = () => bigint() / 2n;
};

/**
 * Slows the clock of this process, and loads the handlers into it, with tables of their own behind a fault
 * proxy. Call it once in a test file: the modules read their environment when they are loaded.
 */
export const startHandlers = async (load?: Load) => {
  const local = shared('dynamodb');
  const proxy = new FaultProxy(local.dynamodbEndpoint);
  const proxyEndpoint = await proxy.listen();
  const testTables = await createTestTables(local);
  Object.assign(process.env, {
    ...functionEnvironment(proxyEndpoint),
    ...testTables.variables,
    SERVICE_NAME: 'animal-store-test',
    AWS_LAMBDA_FUNCTION_VERSION: '42',
  });
  discardLog();
  slowClock();
  const handlers = await loadHandlers(load);
  const apiKey = await testTables.issueApiKey();
  return {
    ...testTables,
    ...handlers,
    proxy,
    proxyEndpoint,
    apiKey,
    send: senderTo(handlers, apiKey),
  };
};

/** Starts a local gateway with the routes of the synthesised stack in front of handlers in this process. */
export const startHandlerGateway = async (handlers: Handlers) => {
  const { api, functions } = await readStack(shared('assembly'), staging);
  const handlerOf = new Map(functionNames.map((name) => [bundleName(name), handlers[name]]));
  const functionOf = (bundle: string): ProxyFunction => ({
    invoke: async ({ requestId, event }) =>
      JSON.stringify(await handlerOf.get(bundle)?.(event, lambdaContext(requestId))),
  });
  const gateway = await startGateway({ port: 0, log: console.log });
  gateway.deploy({
    api,
    functions: new Map([...functions].map(([id, { bundleName }]) => [id, functionOf(bundleName)])),
  });
  return { baseAddress: `${gateway.origin}/${api.stageName}`, stop: gateway.stop };
};

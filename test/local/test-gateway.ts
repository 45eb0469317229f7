import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type ClientRequestArgs, type IncomingMessage, request as send } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { entryModule } from '../../infra/build/bundle-functions.ts';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import type {
  CustomResponse,
  RestApiMethod,
} from '../../infra/local/gateway/rest-api-definition.ts';
import { LocalFunction } from '../../infra/local/lambda/local-function.ts';
import type { FunctionDefinition } from '../../infra/local/stack-definition.ts';
import { headersOf } from '../../lib/gateway-events/gateway-request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The gateway responses of the test API; their bodies name their type. */
const gatewayResponse = (type: string, status: number, headers = {}): CustomResponse => ({
  type,
  status,
  headers: Object.entries(headers),
  body: JSON.stringify({ type }),
});
const gatewayResponses = [
  gatewayResponse('DEFAULT_5XX', 502),
  gatewayResponse('INTEGRATION_FAILURE', 503),
  gatewayResponse('MISSING_AUTHENTICATION_TOKEN', 404, {
    'WWW-Authenticate': 'Bearer',
    'Access-Control-Allow-Origin': '*',
  }),
  gatewayResponse('REQUEST_TOO_LARGE', 413),
];

const echo = `exports.handler = async (event, context) => ({
  statusCode: 200,
  body: JSON.stringify({ event, context, remaining: context.getRemainingTimeInMillis(), env: process.env }),
});`;

/** The sources of the test API's functions, by name. */
const testSources: Readonly<Record<string, string>> = {
  Echo: echo,
  Any: echo,
  // Returns the request's body as its output, so that a test can choose any output.
  Output: 'exports.handler = async ({ body }) => JSON.parse(body);',
  Fail: `exports.handler = async ({ pathParameters }) => {
    switch (pathParameters.how) {
      case 'throws': throw new Error('thrown on purpose');
      case 'exits': process.exit(0);
      case 'fills-memory': { const all = []; for (;;) all.push(new Array(1_000_000).fill(Math.random())); }
      case 'nothing': return undefined;
      default: return { statusCode: 200, body: 'fine' };
    }
  };`,
  // Like a Middy handler, it accepts a hook for errors that become a response.
  Caught: `let hook = () => {};
    exports.handler = async () => {
      hook({ error: new Error('for the client', { cause: new RangeError('caught on purpose') }) });
      return { statusCode: 500, body: 'no stack' };
    };
    exports.handler.onError = (given) => { hook = given; };`,
  Stuck: `exports.handler = async ({ pathParameters }) => {
    while (pathParameters.how === 'loops');
    return { statusCode: 200, body: 'fine' };
  };`,
  Broken: 'throw new Error("broken on purpose");',
  Slow: `let running = 0; let handled = 0;
    exports.handler = async ({ queryStringParameters }) => {
      running += 1;
      handled += 1;
      await new Promise((resolve) => setTimeout(resolve, Number(queryStringParameters.ms)));
      running -= 1;
      return { statusCode: 200, body: JSON.stringify({ running, handled }) };
    };`,
};

/** The functions by the routes that call them. */
const testRoutes = {
  'ANY /': 'Any',
  'GET /pets': 'Echo',
  'ANY /pets': 'Any',
  'GET /pets/{petId}': 'Echo',
  'ANY /pets/{petId}': 'Any',
  'GET /pets/mine': 'Echo',
  'ANY /files/{path+}': 'Any',
  'POST /output': 'Output',
  'GET /fail/{how}': 'Fail',
  'GET /stuck/{how}': 'Stuck',
  'GET /broken': 'Broken',
  'GET /caught': 'Caught',
  'GET /slow': 'Slow',
  'ANY /{proxy+}': 'Any',
};

const routes = Object.entries(testRoutes).map(([route, functionId]): RestApiMethod => {
  const [method = '', resourcePath = ''] = route.split(' ');
  return { method, resourcePath, functionId };
});

/** A function of the test API as a template would declare it. */
const definitionOf = (functionName: string): FunctionDefinition => ({
  functionName,
  bundleName: functionName,
  timeoutMs: functionName === 'Stuck' ? 500 : 25_000,
  memoryMiB: 128,
  environment: { TABLE: 'Table' },
});

/** A response with its headers as they came, names in their case. */
export interface RawResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface RequestOptions extends Pick<ClientRequestArgs, 'method' | 'headers'> {
  readonly body?: string | Buffer;
}

/** Writes bundles with these sources into a new folder, with the modules that load them on Lambda. */
export const testDirectory = async (
  bundles: Readonly<Record<string, string>>,
  ...atEnd: Parameters<typeof temporaryFolder>
): Promise<string> => {
  const directory = await temporaryFolder(...atEnd);
  for (const [name, bundle] of Object.entries(bundles)) {
    await writeFile(join(directory, `${name}.cjs`), bundle);
    await writeFile(join(directory, `${name}.mjs`), entryModule(name));
  }
  return directory;
};

/** Starts a gateway in front of the functions of the test API for a test file, and keeps what it logs. */
export const startTestGateway = async () => {
  const directory = await testDirectory(testSources, afterAll);
  const log: string[] = [];
  const keep = (line: string) => log.push(line);
  const gateway = await startGateway({ port: 0, log: keep });
  const environment = { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' };
  const functions = new Map(
    Object.keys(testSources).map((id) => [
      id,
      new LocalFunction({ definition: definitionOf(id), directory, environment, log: keep }),
    ]),
  );
  gateway.deploy({ api: { stageName: 'v1', routes, gatewayResponses }, functions });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([...functions.values()].map((one) => one.stop()));
  });
  const { hostname, port } = new URL(gateway.origin);
  return {
    log,
    port,
    /** Sends one request on a connection of its own, with the path as it is. */
    request: async (
      path: string,
      { method = 'GET', headers, body }: RequestOptions = {},
    ): Promise<RawResponse> => {
      const outgoing = send({ hostname, port, path, method, headers, agent: false });
      outgoing.end(body);
      const response: IncomingMessage = (await once(outgoing, 'response'))[0];
      const { statusCode = 0 } = response;
      return { status: statusCode, headers: headersOf(response), body: await text(response) };
    },
  };
};

/** The event that the functions Echo and Any got. */
export const eventOf = ({ body }: RawResponse) => JSON.parse(body).event;

import { request as send } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { entryModule } from '../../infra/lambda/bundle-functions.ts';
import { type Gateway, startGateway } from '../../infra/local/gateway/gateway.ts';
import { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { stackDefinitionOf } from '../../infra/local/stack-definition.ts';
import { parseTemplate } from '../../infra/template/template.ts';

/** What a method of the test template may say beside its path and function. */
export interface TestMethod {
  readonly functionId?: string;
  readonly timeoutMs?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
}

const api = { Ref: 'Api' };
const root = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };

/** The integration with a function, by its alias. */
const proxyTo = ({ functionId = 'Echo', timeoutMs }: TestMethod) => ({
  Type: 'AWS_PROXY',
  IntegrationHttpMethod: 'POST',
  Uri: {
    'Fn::Join': [
      '',
      ['arn:aws:apigateway:…:functions/', { Ref: `${functionId}Alias` }, '/invocations'],
    ],
  },
  ...(timeoutMs && { TimeoutInMillis: timeoutMs }),
});

const methodResource = (resourceId: unknown, method: string, test: TestMethod) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: {
    RestApiId: api,
    ResourceId: resourceId,
    HttpMethod: method,
    AuthorizationType: 'NONE',
    Integration: proxyTo(test),
    ...test.properties,
  },
});

/** Resources and methods as the CDK writes them, from routes such as `GET /pets/{petId}`. */
const routeResources = (routes: Readonly<Record<string, TestMethod>>) => {
  const resources: Record<string, unknown> = {};
  for (const [route, test] of Object.entries(routes)) {
    const [method = '', path = ''] = route.split(' ');
    let parent: unknown = root;
    let id = 'Resource';
    for (const PathPart of path.split('/').filter(Boolean)) {
      id += PathPart.replace(/\W/g, (character) => `x${character.charCodeAt(0)}`);
      resources[id] = {
        Type: 'AWS::ApiGateway::Resource',
        Properties: { RestApiId: api, ParentId: parent, PathPart },
      };
      parent = { Ref: id };
    }
    resources[`${id}${method}`] = methodResource(parent, method, test);
  }
  return resources;
};

/** A function and its alias. */
const functionResources = (functionId: string) => ({
  [functionId]: {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Handler: `${functionId}.handler`,
      Runtime: 'nodejs24.x',
      MemorySize: 128,
      Timeout: functionId === 'Stuck' ? 1 : 25,
      Environment: { Variables: { TABLE: { Ref: 'Table' }, GREETING: 'hello' } },
      LoggingConfig: { LogGroup: { Ref: 'Log' } },
    },
  },
  [`${functionId}Alias`]: {
    Type: 'AWS::Lambda::Alias',
    Properties: { FunctionName: { Ref: functionId }, Name: 'live', FunctionVersion: '1' },
  },
});

const gatewayResponse = (ResponseType: string, StatusCode: string, headers = {}) => ({
  Type: 'AWS::ApiGateway::GatewayResponse',
  Properties: {
    RestApiId: api,
    ResponseType,
    StatusCode,
    ResponseParameters: headers,
    ResponseTemplates: { 'application/json': JSON.stringify({ type: ResponseType }) },
  },
});

/** The gateway responses of the test template; their bodies name their type. */
export const testGatewayResponses = {
  Default4xx: gatewayResponse('DEFAULT_4XX', '418'),
  Default5xx: gatewayResponse('DEFAULT_5XX', '502'),
  Integration: gatewayResponse('INTEGRATION_FAILURE', '503', {
    'gatewayresponse.header.Retry-After': "'1'",
    'gatewayresponse.header.X-Quoted': "'it's'",
  }),
  Token: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', '404'),
  TooLarge: gatewayResponse('REQUEST_TOO_LARGE', '413'),
  Timeout: gatewayResponse('INTEGRATION_TIMEOUT', '504'),
};

const echo = `exports.handler = async (event, context) => ({
  statusCode: 200,
  body: JSON.stringify({ event, context, remaining: context.getRemainingTimeInMillis(), env: process.env }),
});`;

/** The functions of the test template, by their text. */
const testSources: Readonly<Record<string, string>> = {
  Echo: echo,
  Any: echo,
  // Gives the request's body as its reply, so that a test can write any reply.
  Reply: 'exports.handler = async ({ body }) => JSON.parse(body);',
  Fail: `exports.handler = async ({ pathParameters }) => {
    switch (pathParameters.how) {
      case 'throws': throw new Error('thrown on purpose');
      case 'throws-text': throw 'text on purpose';
      case 'throws-null': throw null;
      case 'exits': process.exit(0);
      case 'exits-1': process.exit(1);
      case 'uncaught': setTimeout(() => { throw new Error('uncaught on purpose'); }); return new Promise(() => {});
      case 'unhandled': Promise.reject(new Error('rejected on purpose')); return new Promise(() => {});
      case 'overflows': { const more = () => more() + 1; return more(); }
      case 'fills-memory': { const all = []; for (;;) all.push(new Array(1_000_000).fill(Math.random())); }
      case 'circular': { const result = { statusCode: 200 }; result.self = result; return result; }
      case 'bigint': return { statusCode: 200, body: 1n };
      case 'nothing': return undefined;
      case 'long': return { statusCode: 200, body: 'a'.repeat(6_291_556) };
      default: return { statusCode: 200, body: 'fine' };
    }
  };`,
  Stuck: `exports.handler = async ({ pathParameters }) => {
    if (pathParameters.how === 'hangs') await new Promise(() => {});
    while (pathParameters.how === 'loops');
    return { statusCode: 200, body: 'fine' };
  };`,
  Broken: 'throw new Error("broken on purpose");',
  Exportless: 'exports.other = () => {};',
  Slow: `let running = 0; let handled = 0;
    exports.handler = async ({ queryStringParameters }) => {
      running += 1;
      handled += 1;
      console.log('a line\\nanother line');
      process.stderr.write('an error line\\n');
      await new Promise((resolve) => setTimeout(resolve, Number(queryStringParameters.ms)));
      running -= 1;
      return { statusCode: 200, body: JSON.stringify({ running, handled }) };
    };`,
};

/** The routes of the test template. */
const testRoutes: Readonly<Record<string, TestMethod>> = {
  'ANY /': { functionId: 'Any' },
  'GET /pets': {},
  'ANY /pets': { functionId: 'Any' },
  'GET /pets/{petId}': {},
  'ANY /pets/{petId}': { functionId: 'Any' },
  'GET /pets/mine': {},
  'GET /pets/{petId}/friends/{friendId}': {},
  'ANY /files/{path+}': { functionId: 'Any' },
  'POST /reply': { functionId: 'Reply' },
  'GET /fail/{how}': { functionId: 'Fail' },
  'GET /stuck/{how}': { functionId: 'Stuck' },
  'GET /broken': { functionId: 'Broken' },
  'GET /exportless': { functionId: 'Exportless' },
  'GET /slow': { functionId: 'Slow' },
  'GET /too-slow': { functionId: 'Slow', timeoutMs: 100 },
  'ANY /{proxy+}': { functionId: 'Any' },
};

/** A template of a REST API with these routes and further resources. */
export const testTemplate = (
  routes: Readonly<Record<string, TestMethod>>,
  functionIds: readonly string[],
  others: Readonly<Record<string, unknown>> = testGatewayResponses,
) =>
  parseTemplate(
    JSON.stringify({
      Resources: {
        Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'test' } },
        Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'v1' } },
        Table: {
          Type: 'AWS::DynamoDB::Table',
          Properties: {
            KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
            AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
            BillingMode: 'PAY_PER_REQUEST',
          },
        },
        Unrelated: { Type: 'AWS::WAFv2::WebACL' },
        ...routeResources(routes),
        ...Object.assign({}, ...functionIds.map(functionResources)),
        ...others,
      },
    }),
  );

/** A response with its headers as they came, names in their case. */
export interface RawResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** What is deployed for a bundle with this text. */
export const testFiles = (name: string, bundle: string) => ({
  [`${name}.cjs`]: bundle,
  [`${name}.mjs`]: entryModule(name),
});

/** A gateway before functions given by their source text, and the lines that it logged. */
export class TestGateway {
  readonly log: string[] = [];
  readonly #gateway: Gateway;
  readonly #functions: Map<string, LambdaFunction>;

  private constructor(gateway: Gateway, functions: Map<string, LambdaFunction>, log: string[]) {
    this.#gateway = gateway;
    this.#functions = functions;
    this.log = log;
  }

  static async start(
    gatewayResponses: Readonly<Record<string, unknown>> = testGatewayResponses,
  ): Promise<TestGateway> {
    const template = testTemplate(testRoutes, Object.keys(testSources), gatewayResponses);
    const log: string[] = [];
    const write = (line: string) => log.push(line);
    const { api: definition, functions: definitions } = stackDefinitionOf(template);
    const functions = new Map<string, LambdaFunction>();
    for (const [id, functionDefinition] of definitions) {
      const deployed = await LambdaFunction.deploy({
        definition: functionDefinition,
        files: testFiles(id, testSources[id] ?? ''),
        environment: { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' },
        log: write,
      });
      functions.set(id, deployed);
    }
    const gateway = await startGateway({ port: 0, log: write });
    gateway.deploy({ api: definition, functions });
    return new TestGateway(gateway, functions, log);
  }

  get origin(): string {
    return this.#gateway.origin;
  }

  /** One request on a connection of its own; the path is sent as it is. */
  async request(path: string, { method = 'GET', headers, body }: RequestOptions = {}) {
    const { hostname, port } = new URL(this.origin);
    const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
    const outgoing = send(
      { hostname, port, path, method, headers, agent: false },
      async (response) => {
        const { rawHeaders } = response;
        resolve({
          status: response.statusCode ?? 0,
          headers: rawHeaders.flatMap((name, index) =>
            index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
          ),
          body: await text(response),
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
  }

  /** What comes back for bytes that need not be HTTP. */
  async sendBytes(bytes: string): Promise<string> {
    const { hostname, port } = new URL(this.origin);
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    return text(socket);
  }

  async stop() {
    await this.#gateway.stop();
    await Promise.all([...this.#functions.values()].map((one) => one.terminate()));
  }
}

/** The values of a header of a response. */
export const valuesOf = ({ headers }: RawResponse, name: string) =>
  headers.filter(([given]) => given.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

/** The event that the functions Echo and Any got. */
export const eventOf = ({ body }: RawResponse) => JSON.parse(body).event;

import { request as send } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Gateway, startGateway } from '../../infra/local/gateway/gateway.ts';
import { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { stackDefinitionOf } from '../../infra/local/stack-definition.ts';
import { parseTemplate } from '../../infra/template/template.ts';

/** What a method of the test template may say beside its path and function. */
export interface TestMethod {
  readonly functionId?: string;
  readonly viaAlias?: boolean;
  readonly timeoutMs?: number;
  readonly validated?: boolean;
  readonly properties?: Readonly<Record<string, unknown>>;
}

const api = { Ref: 'Api' };
const root = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };

const proxyTo = ({ functionId = 'Echo', viaAlias = false, timeoutMs }: TestMethod) => ({
  Type: 'AWS_PROXY',
  IntegrationHttpMethod: 'POST',
  Uri: {
    'Fn::Join': [
      '',
      [
        'arn:',
        { Ref: 'AWS::Partition' },
        ':apigateway:',
        { Ref: 'AWS::Region' },
        ':lambda:path/2015-03-31/functions/',
        viaAlias ? { Ref: `${functionId}Alias` } : { 'Fn::GetAtt': [functionId, 'Arn'] },
        '/invocations',
      ],
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
    ...(test.validated && {
      RequestParameters: {
        'method.request.header.Authorization': true,
        'method.request.header.Accept': false,
      },
      RequestValidatorId: { Ref: 'Validator' },
    }),
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

const functionResource = (functionId: string) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    FunctionName: functionId,
    Handler: `${functionId}.handler`,
    Runtime: 'nodejs24.x',
    MemorySize: 128,
    Timeout: functionId === 'Stuck' ? 1 : 25,
    Environment: {
      Variables: {
        TABLE: { Ref: 'Table' },
        GREETING: 'hello',
        JOINED: { 'Fn::Join': ['/', ['a', { Ref: 'Table' }]] },
      },
    },
    LoggingConfig: { LogGroup: { Ref: 'Log' } },
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
  Parameters: gatewayResponse('BAD_REQUEST_PARAMETERS', '401', {
    'gatewayresponse.header.WWW-Authenticate': "'Bearer'",
    'gatewayresponse.header.X-Quoted': "'it's'",
  }),
  Token: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', '404'),
  TooLarge: gatewayResponse('REQUEST_TOO_LARGE', '413'),
  Timeout: gatewayResponse('INTEGRATION_TIMEOUT', '504'),
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
        Validator: {
          Type: 'AWS::ApiGateway::RequestValidator',
          Properties: { RestApiId: api, ValidateRequestParameters: true },
        },
        Table: {
          Type: 'AWS::DynamoDB::Table',
          Properties: {
            KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
            AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
          },
        },
        Unrelated: { Type: 'AWS::WAFv2::WebACL' },
        ...routeResources(routes),
        ...Object.fromEntries(functionIds.map((id) => [id, functionResource(id)])),
        ...Object.fromEntries(
          functionIds.map((id) => [
            `${id}Alias`,
            {
              Type: 'AWS::Lambda::Alias',
              Properties: { FunctionName: { Ref: id }, Name: 'live', FunctionVersion: '1' },
            },
          ]),
        ),
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
    template: ReturnType<typeof testTemplate>,
    sources: Readonly<Record<string, string>>,
  ): Promise<TestGateway> {
    const log: string[] = [];
    const write = (line: string) => log.push(line);
    const { api: definition, functions: definitions } = stackDefinitionOf(template);
    const functions = new Map(
      [...definitions].map(([id, functionDefinition]) => [
        id,
        new LambdaFunction({
          definition: functionDefinition,
          code: sources[id] ?? '',
          filename: `/var/task/${id}.cjs`,
          environment: { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' },
          log: write,
        }),
      ]),
    );
    const gateway = await startGateway({ port: 0, log: write });
    gateway.deploy({ api: definition, functions });
    return new TestGateway(gateway, functions, log);
  }

  get origin(): string {
    return this.#gateway.origin;
  }

  /** One request on a connection of its own; the path is sent as it stands. */
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

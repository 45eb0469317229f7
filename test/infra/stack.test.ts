import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { prod, staging } from '../../infra/stages.ts';
import { methodsOf, operations } from '../../lib/contract/operations.ts';
import { assemblyDirectory, deployedTemplate, idOf } from '../support/stack.ts';

/** Every method of every operation. */
const routes = operations.flatMap((operation) =>
  methodsOf(operation).map((method) => ({ ...operation, method })),
);

interface Key {
  readonly AttributeName: string;
  readonly KeyType: string;
}
const keyText = ({ AttributeName, KeyType }: Key) => `${AttributeName} ${KeyType}`;

/** `list-pets` of `listPets`. */
const fileNameOf = (operation: string) =>
  operation.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);

const templates = { staging: deployedTemplate(staging), prod: deployedTemplate(prod) };

/** The function of each operation, and `unrouted`. */
const functionNames = [...operations.map(({ name }) => fileNameOf(name)), 'unrouted'];
const idStart = (functionName: string) => functionName.replace('-', '');

describe.each(Object.entries(templates))('stack of %s', (stage, template) => {
  it('serves a regional REST API under the stage v1, over TLS 1.3 or 1.2 with forward secrecy', () => {
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    template.allResourcesProperties('AWS::ApiGateway::Stage', { StageName: 'v1' });
  });

  it('has a route for each operation, and HEAD beside GET, to its function', () => {
    for (const { method, path, name } of routes) {
      const alias = idOf(template, 'AWS::Lambda::Alias', `${name.toLowerCase()}Function`);
      const [resource] = Object.keys(
        template.findResources('AWS::ApiGateway::Resource', {
          Properties: { PathPart: path.split('/').at(-1) },
        }),
      );
      template.hasResourceProperties('AWS::ApiGateway::Method', {
        HttpMethod: method,
        ResourceId: { Ref: resource },
        Integration: {
          Type: 'AWS_PROXY',
          Uri: { 'Fn::Join': ['', Match.arrayWith([{ Ref: alias }])] },
        },
      });
    }
  });

  // API Gateway processes header names case-sensitively, and HTTP/2 clients send `authorization`.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  it('validates no request before its function does', () => {
    template.resourceCountIs('AWS::ApiGateway::RequestValidator', 0);
    for (const { Properties } of Object.values(template.findResources('AWS::ApiGateway::Method'))) {
      expect(Properties).not.toHaveProperty('RequestValidatorId');
      expect(Properties).not.toHaveProperty('RequestParameters');
    }
  });

  it('sends every other path and method to the unrouted function', () => {
    const unrouted = idOf(template, 'AWS::Lambda::Alias', 'unroutedFunction');
    const catchAlls = template.findResources('AWS::ApiGateway::Method', {
      Properties: {
        HttpMethod: 'ANY',
        Integration: { Uri: { 'Fn::Join': ['', Match.arrayWith([{ Ref: unrouted }])] } },
      },
    });
    const paths = new Set(['/', '/{proxy+}', ...operations.map(({ path }) => path)]);
    expect(Object.keys(catchAlls)).toHaveLength(paths.size);
    template.resourceCountIs('AWS::ApiGateway::Method', routes.length + paths.size);
  });

  it('responds to every error of the gateway with a literal Error body and its status', () => {
    const responses = Object.values(template.findResources('AWS::ApiGateway::GatewayResponse'));
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
    expect(responses.map(({ Properties }) => Properties.ResponseType)).toEqual(
      expect.arrayContaining(
        `ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE
        BAD_REQUEST_PARAMETERS BAD_REQUEST_BODY DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN
        INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY INVALID_SIGNATURE
        MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED
        UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED`.split(/\s+/),
      ),
    );
    for (const { Properties } of responses) {
      const body = Properties.ResponseTemplates['application/json'];
      expect(body).not.toContain('$');
      expect(JSON.parse(body)).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/\S/),
        status: Number(Properties.StatusCode),
      });
    }
  });

  it.each([
    ['BAD_REQUEST_PARAMETERS', '400', 'invalid_request'],
    // Which type a malformed reply takes is not recorded: this one, or INTEGRATION_FAILURE.
    ['DEFAULT_5XX', '502', 'bad_gateway'],
    // A crash and a lack of capacity: DataBiosphere/azul#6624, #8192.
    ['INTEGRATION_FAILURE', '503', 'service_unavailable'],
    ['INTEGRATION_TIMEOUT', '504', 'gateway_timeout'],
  ])('responds to %s with %s %s', (ResponseType, StatusCode, code) => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType,
      StatusCode,
      ResponseParameters: { 'gatewayresponse.header.Cache-Control': "'no-store'" },
      ResponseTemplates: {
        'application/json': Match.stringLikeRegexp(`^{"code":"${code}","message":`),
      },
    });
  });

  it('tells clients of a 503 when to come back, and how a creation may be repeated', () => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      StatusCode: '503',
      ResponseParameters: { 'gatewayresponse.header.Retry-After': "'1'" },
      ResponseTemplates: { 'application/json': Match.stringLikeRegexp('Idempotency-Key') },
    });
  });

  it.each(functionNames)('runs %s on Node.js 24 and arm64, from its own bundle', (name) => {
    const [lambda] = Object.values(
      template.findResources('AWS::Lambda::Function', {
        Properties: { Handler: `${name}.handler` },
      }),
    );
    expect(lambda?.['Properties']).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Environment: { Variables: { SERVICE_NAME: `animal-store-${stage}` } },
    });
    const asset = lambda?.['Properties'].Code.S3Key.replace('.zip', '');
    expect(readdirSync(join(assemblyDirectory(), `asset.${asset}`))).toEqual([
      `${name}.cjs`,
      `${name}.mjs`,
    ]);
  });

  it.each(functionNames)('moves the alias of %s to each new version', (name) => {
    const functionId = idOf(template, 'AWS::Lambda::Function', `${idStart(name)}Function`);
    const version = idOf(template, 'AWS::Lambda::Version', `${idStart(name)}Function`);
    template.hasResourceProperties('AWS::Lambda::Alias', {
      Name: 'live',
      FunctionName: { Ref: functionId },
      FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
    });
  });

  it('keeps the old versions', () => {
    template.allResources('AWS::Lambda::Version', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });

  it('traces every request', () => {
    template.allResourcesProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } });
    template.hasResourceProperties('AWS::ApiGateway::Stage', { TracingEnabled: true });
  });

  it('writes a line of JSON for each request, without what could hold an API key', () => {
    const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
    const { Format, DestinationArn } = stage?.['Properties'].AccessLogSetting ?? {};
    const accessLog = idOf(template, 'AWS::Logs::LogGroup', 'ApiAccessLog');
    expect(DestinationArn['Fn::Join'][1].at(-1)).toEqual({ Ref: accessLog });
    const line: Record<string, string> = JSON.parse(Format);
    expect(line).toMatchObject({
      extendedRequestId: '$context.extendedRequestId',
      lambdaRequestId: '$context.integration.requestId',
      status: '$context.status',
      tlsVersion: '$context.tlsVersion',
      cipherSuite: '$context.cipherSuite',
    });
    for (const variable of Object.values(line)) {
      expect(variable).toMatch(/^\$context\.[\w.]+$/);
      expect(variable).not.toMatch(/error\.message|\.path$|userAgent|context\.requestId|raceId/);
    }
  });

  it('repeats every option of a method where its throttle differs from the stage, for HEAD as for GET', () => {
    const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
    const settings: { HttpMethod: string }[] = stage?.['Properties'].MethodSettings;
    expect(settings).toHaveLength(1 + routes.length);
    for (const setting of settings) {
      expect(setting).toEqual({
        HttpMethod: expect.any(String),
        ResourcePath: expect.any(String),
        ThrottlingRateLimit: expect.any(Number),
        ThrottlingBurstLimit: expect.any(Number),
        CachingEnabled: false,
        DataTraceEnabled: false,
        LoggingLevel: 'OFF',
        MetricsEnabled: false,
      });
    }
    const of = (method: string) => settings.filter(({ HttpMethod }) => HttpMethod === method);
    expect(of('GET')).not.toHaveLength(0);
    expect(of('HEAD')).toEqual(of('GET').map((setting) => ({ ...setting, HttpMethod: 'HEAD' })));
  });

  it('bounds what tables and index take on demand', () => {
    const bounded = {
      MaxReadRequestUnits: Match.anyValue(),
      MaxWriteRequestUnits: Match.anyValue(),
    };
    template.allResourcesProperties('AWS::DynamoDB::Table', {
      BillingMode: 'PAY_PER_REQUEST',
      OnDemandThroughput: bounded,
    });
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      GlobalSecondaryIndexes: [Match.objectLike({ OnDemandThroughput: bounded })],
    });
  });

  it('keeps the logical id of all that holds data, its keys and indexes, and the logical id of the API', () => {
    const pinned = Object.entries({
      ...template.findResources('AWS::DynamoDB::Table'),
      ...template.findResources('AWS::ApiGateway::RestApi'),
    }).map(([id, { Properties }]) => [
      id,
      Properties.KeySchema?.map(keyText),
      Properties.GlobalSecondaryIndexes?.map(
        ({ IndexName, KeySchema, Projection }: { KeySchema: Key[] } & Record<string, unknown>) => [
          IndexName,
          KeySchema.map(keyText),
          Projection,
        ],
      ),
    ]);
    expect(
      pinned,
      'CloudFormation replaces a resource whose logical id or key changes: the data stays behind in the old table, ' +
        'or clients lose the address of the API. Take back what renamed the construct or changed its key. If it is ' +
        'meant, follow "Replace a table" in infra/README.md first, then change this test. During a canary the old ' +
        'version uses these tables too: add an index in one release, and remove the one before in a later release.',
    ).toEqual([
      [
        'PetsTable56B0D675',
        ['id HASH'],
        [
          [
            'byStatus',
            ['status HASH', 'id RANGE'],
            { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name', 'categoryId'] },
          ],
        ],
      ],
      ['KeysTableDD857A22', ['keyId HASH'], undefined],
      ['ApiRestApiE35FEAFE', undefined, undefined],
    ]);
  });

  it('gives out the base address and the names of the tables', () => {
    template.hasOutput('BaseAddress', {
      Value: { 'Fn::Join': ['', Match.arrayWith(['https://', '/v1'])] },
    });
    template.hasOutput('PetsTableName', { Value: { Ref: 'PetsTable56B0D675' } });
    template.hasOutput('KeysTableName', { Value: { Ref: 'KeysTableDD857A22' } });
  });
});

describe.each([
  ['staging', 'pets_test', 'Delete', false, 1],
  ['prod', 'pets_live', 'Retain', true, 35],
] as const)('stack of %s', (stage, API_KEY_PREFIX, DeletionPolicy, isProtected, days) => {
  it(`has tables with removal ${DeletionPolicy} and ${days} days of point-in-time recovery`, () => {
    templates[stage].allResources('AWS::DynamoDB::Table', {
      DeletionPolicy,
      UpdateReplacePolicy: DeletionPolicy,
      Properties: Match.objectLike({
        DeletionProtectionEnabled: isProtected,
        PointInTimeRecoverySpecification: {
          PointInTimeRecoveryEnabled: true,
          RecoveryPeriodInDays: days,
        },
      }),
    });
  });

  it(`accepts keys that begin with ${API_KEY_PREFIX}`, () => {
    const Environment = { Variables: Match.objectLike({ API_KEY_PREFIX }) };
    const count = operations.length;
    templates[stage].resourcePropertiesCountIs('AWS::Lambda::Function', { Environment }, count);
  });
});

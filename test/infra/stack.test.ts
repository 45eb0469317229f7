import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { prod, staging } from '../../infra/stages.ts';
import { methodsOf, operations } from '../../lib/contract/operations.ts';
import { assemblyDirectory, deployedTemplate } from '../support/stack.ts';

/** Every method of every operation. */
const routes = operations.flatMap((operation) =>
  methodsOf(operation).map((method) => ({ ...operation, method })),
);

const Pinned = z.object({
  Type: z.string(),
  Properties: z.optional(
    z.object({ KeySchema: z.optional(z.array(z.object({ AttributeName: z.string() }))) }),
  ),
});

const templates = { staging: deployedTemplate(staging), prod: deployedTemplate(prod) };

/** The one resource of a type whose id starts so. */
const idOf = (template: Template, type: string, start: string) => {
  const ids = Object.keys(template.findResources(type)).filter((id) => id.startsWith(start));
  expect(ids).toHaveLength(1);
  return ids[0] ?? '';
};

const functionNames = ['list-pets', 'create-pet', 'get-pet', 'unrouted'];
const idStart = (functionName: string) => functionName.replace('-', '');

describe.each(Object.entries(templates))('stack of %s', (stage, template) => {
  const petsTable = idOf(template, 'AWS::DynamoDB::Table', 'PetsTable');
  const keysTable = idOf(template, 'AWS::DynamoDB::Table', 'KeysTable');
  const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

  it('serves a regional REST API under the stage v1, over TLS 1.3 or 1.2 with forward secrecy', () => {
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    template.hasResourceProperties('AWS::ApiGateway::Stage', { StageName: 'v1' });
    template.resourceCountIs('AWS::ApiGateway::Stage', 1);
  });

  it('has a route for each operation, and HEAD beside GET, to its function', () => {
    for (const { method, path, name } of routes) {
      const alias = idOf(template, 'AWS::Lambda::Alias', `${name.toLowerCase()}Function`);
      const resource = idOf(
        template,
        'AWS::ApiGateway::Resource',
        path === '/pets' ? 'ApiRestApipets5' : 'ApiRestApipetspetId',
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
    expect(Object.keys(catchAlls)).toHaveLength(4);
    template.resourceCountIs('AWS::ApiGateway::Method', routes.length + 4);
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
    // A crash and a lack of capacity: DataBiosphere/azul#6624, #8192.
    ['INTEGRATION_FAILURE', '503', 'service_unavailable'],
    // Which type a malformed reply takes is not recorded: this one, or INTEGRATION_FAILURE.
    ['DEFAULT_5XX', '502', 'bad_gateway'],
    ['INTEGRATION_TIMEOUT', '504', 'gateway_timeout'],
  ])('responds to %s with %s %s', (ResponseType, StatusCode, code) => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType,
      StatusCode,
      ResponseParameters: Match.objectLike({
        'gatewayresponse.header.Cache-Control': "'no-store'",
        ...(StatusCode === '503' && { 'gatewayresponse.header.Retry-After': "'1'" }),
      }),
      ResponseTemplates: {
        'application/json': Match.stringLikeRegexp(`^{"code":"${code}","message":`),
      },
    });
  });

  it('tells clients of a 503 when to send a creation again', () => {
    template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType: 'INTEGRATION_FAILURE',
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

  it.each([
    ['list-pets', 'dynamodb:Query', { 'Fn::Join': ['', [arnOf(petsTable), '/index/byStatus']] }],
    ['create-pet', 'dynamodb:PutItem', arnOf(petsTable)],
    ['get-pet', 'dynamodb:GetItem', arnOf(petsTable)],
    ['unrouted'],
  ])('lets %s make only the calls it makes', (name, ...call) => {
    const roleId = idOf(template, 'AWS::IAM::Role', `${idStart(name)}Role`);
    const role = template.findResources('AWS::IAM::Role')[roleId]?.['Properties'];
    const own = Object.values(template.findResources('AWS::IAM::Policy')).filter(
      ({ Properties }) => Properties.Roles[0].Ref === roleId,
    );
    const documents = [...(role.Policies ?? []), ...own.map(({ Properties }) => Properties)].map(
      ({ PolicyDocument }) => PolicyDocument,
    );
    const allowed = documents.flatMap(({ Statement }) =>
      Statement.flatMap(
        ({ Effect, Action, Resource }: { Effect: string; Action: unknown; Resource: unknown }) =>
          [Resource].flat().map((resource) => [Effect, Action, resource]),
      ),
    );
    const calls = [['dynamodb:GetItem', arnOf(keysTable)], call];
    expect(role.ManagedPolicyArns).toBeUndefined();
    expect(allowed).toEqual([
      ...(call.length > 0 ? calls : []).map((one) => ['Allow', ...one]),
      [
        'Allow',
        ['logs:CreateLogStream', 'logs:PutLogEvents'],
        arnOf(idOf(template, 'AWS::Logs::LogGroup', `${idStart(name)}Log`)),
      ],
      ['Allow', ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], '*'],
    ]);
  });

  it('gives key administrators a policy for the commands of npm run keys, and nothing else', () => {
    const [[policy, { Properties } = {}] = []] = Object.entries(
      template.findResources('AWS::IAM::ManagedPolicy'),
    );
    const logs = functionNames.map((name) =>
      idOf(template, 'AWS::Logs::LogGroup', `${idStart(name)}Log`),
    );
    expect(Properties.PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'cloudformation:DescribeStacks',
        Resource: { Ref: 'AWS::StackId' },
      },
      {
        Effect: 'Allow',
        Action: ['GetItem', 'PutItem', 'Scan', 'UpdateItem'].map((call) => `dynamodb:${call}`),
        Resource: arnOf(keysTable),
      },
      {
        Effect: 'Allow',
        Action: 'ssm:PutParameter',
        Resource: expect.stringMatching(`:\\d{12}:parameter/animal-store/${stage}/probe-api-key$`),
      },
      {
        Effect: 'Allow',
        Action: ['logs:GetQueryResults', 'logs:StartQuery'],
        Resource: logs.toSorted().map(arnOf),
      },
    ]);
    template.hasOutput('LogGroupNames', {
      Value: { 'Fn::Join': [',', logs.map((Ref) => ({ Ref }))] },
    });
    template.hasOutput('KeyAdministrationPolicy', { Value: { Ref: policy } });
  });

  it.each(functionNames)(
    'moves the alias of %s to each new version, and keeps the old ones',
    (name) => {
      const functionId = idOf(template, 'AWS::Lambda::Function', `${idStart(name)}Function`);
      const version = idOf(template, 'AWS::Lambda::Version', `${idStart(name)}Function`);
      template.hasResourceProperties('AWS::Lambda::Alias', {
        Name: 'live',
        FunctionName: { Ref: functionId },
        FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
      });
      template.hasResource('AWS::Lambda::Version', {
        Properties: { FunctionName: { Ref: functionId } },
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    },
  );

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
    const ofGet = settings.filter(({ HttpMethod }) => HttpMethod === 'GET');
    expect(ofGet).toHaveLength(2);
    expect(settings.filter(({ HttpMethod }) => HttpMethod === 'HEAD')).toEqual(
      ofGet.map((setting) => ({ ...setting, HttpMethod: 'HEAD' })),
    );
  });

  it('bounds what tables and index take on demand', () => {
    const bounded = {
      MaxReadRequestUnits: Match.anyValue(),
      MaxWriteRequestUnits: Match.anyValue(),
    };
    template.allResourcesProperties('AWS::DynamoDB::Table', { OnDemandThroughput: bounded });
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      GlobalSecondaryIndexes: [Match.objectLike({ OnDemandThroughput: bounded })],
    });
  });

  it('keeps pets by id, and lists them by status and id with nothing but their fields', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byStatus',
          KeySchema: [
            { AttributeName: 'status', KeyType: 'HASH' },
            { AttributeName: 'id', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name', 'categoryId'] },
        },
      ],
    });
  });

  it('keeps the logical id and the key of all that holds data, and of the API', () => {
    const pinned = Object.entries(template.toJSON()['Resources']).flatMap(([id, resource]) => {
      const { Type, Properties } = Pinned.parse(resource);
      if (!['AWS::DynamoDB::Table', 'AWS::ApiGateway::RestApi'].includes(Type)) return [];
      return [[id, ...(Properties?.KeySchema ?? []).map(({ AttributeName }) => AttributeName)]];
    });
    expect(
      pinned,
      'CloudFormation replaces a resource whose logical id or key changes: the data stays behind in the old table, ' +
        'or clients lose the address of the API. Take back what renamed the construct or changed its key. If it is ' +
        'meant, follow "Replace a table" in infra/README.md first, then change this test.',
    ).toEqual([
      ['PetsTable56B0D675', 'id'],
      ['KeysTableDD857A22', 'keyId'],
      ['ApiRestApiE35FEAFE'],
    ]);
  });

  it('gives out the base address and the names of the tables', () => {
    template.hasOutput('BaseAddress', {
      Value: { 'Fn::Join': ['', Match.arrayWith(['https://', '/v1'])] },
    });
    template.hasOutput('PetsTableName', { Value: { Ref: petsTable } });
    template.hasOutput('KeysTableName', { Value: { Ref: keysTable } });
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
    templates[stage].resourcePropertiesCountIs('AWS::Lambda::Function', { Environment }, 3);
  });
});

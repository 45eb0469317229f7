import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { AccountStack } from '../../infra/stacks/account-stack.ts';
import { emulated, prod, requireSafe, type Stage, stages, staging } from '../../infra/stages.ts';
import { deployedTemplate, stackOf, templateOf } from '../support/stack.ts';

const noAlarms = { deployment: 'all at once', alarmAddressees: [] } as const;

describe.each(Object.values(stages))('$name', (stage) => {
  it('is deployed only to its own account and region, with its tags', () => {
    const { account, region, tags } = stackOf(stage);
    expect({ account, region }).toEqual(stage.environment);
    expect(tags.tagValues()).toEqual(stage.tags);
  });

  it('keeps nothing by force that holds no data', () => {
    // A rolled-back update would leave it behind, and the next one would collide with it.
    const resources: Record<string, { Type: string; DeletionPolicy?: string }> =
      deployedTemplate(stage).toJSON()['Resources'];
    const kept = Object.values(resources).filter(
      ({ DeletionPolicy }) => DeletionPolicy === 'Retain',
    );
    expect(new Set(kept.map(({ Type }) => Type))).toEqual(
      new Set(stage.retainData ? ['AWS::DynamoDB::Table', 'AWS::Logs::LogGroup'] : []),
    );
  });

  it('with a canary that no alarm can stop is refused', () => {
    expect(() => stackOf({ ...stage, deployment: 'canary', alarmAddressees: [] })).toThrow(
      `${stage.name} is unsafe: deployment is canary without alarmAddressees`,
    );
  });

  it('has CORS off, with no trace in its stack', () => {
    expect(stage.corsOrigins).toEqual([]);
    expect(JSON.stringify(deployedTemplate(stage).toJSON())).not.toMatch(/CORS|Access-Control/);
  });
});

describe('prod', () => {
  it.each([
    ['environment', { environment: undefined }],
    ['retainData', { retainData: false }],
    ['deletionProtection', { deletionProtection: false }],
    ['terminationProtection', { terminationProtection: false }],
    ['pointInTimeRecoveryDays', { pointInTimeRecoveryDays: 0 }],
    ['alarmAddressees', noAlarms],
    ['retainData.*; alarmAddressees', { retainData: false, ...noAlarms }],
  ] satisfies [string, Partial<Stage>][])(
    'is refused for an unsafe %s, which staging may have',
    (names, unsafe) => {
      expect(() => stackOf({ ...prod, ...unsafe })).toThrow(
        new RegExp(`^prod is unsafe: ${names}`),
      );
      expect(() => requireSafe({ ...staging, ...unsafe })).not.toThrow();
    },
  );
});

it('prod reserves less concurrency for what has no route than for an operation', () => {
  const functions = Object.values(deployedTemplate(prod).findResources('AWS::Lambda::Function'));
  const reserved = functions.map(({ Properties }) => [
    Properties.Handler,
    Properties.ReservedConcurrentExecutions,
  ]);
  expect(reserved).toEqual([
    ['list-pets.handler', 100],
    ['create-pet.handler', 100],
    ['get-pet.handler', 100],
    ['unrouted.handler', 20],
  ]);
});

describe('CORS', () => {
  const [one, two] = ['https://a.example', 'https://b.example'];
  const ofOne = templateOf({ ...prod, corsOrigins: [one] });
  const ofTwo = templateOf({ ...prod, corsOrigins: [one, two] });

  it('tells every function the origins', () => {
    ofTwo.allResourcesProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ CORS_ORIGINS: `${one} ${two}` }) },
    });
  });

  it.each([
    ['the origin, where it is the only one', ofOne, one],
    ['any origin, where there are several', ofTwo, '*'],
  ])(
    'lets pages of %s read responses of the gateway and the firewall',
    (_which, template, allowed) => {
      template.allResourcesProperties('AWS::ApiGateway::GatewayResponse', {
        ResponseParameters: Match.objectLike({
          'gatewayresponse.header.Access-Control-Allow-Origin': `'${allowed}'`,
          'gatewayresponse.header.Access-Control-Expose-Headers':
            Match.stringLikeRegexp('Retry-After'),
        }),
      });
      const [webAcl] = Object.values(template.findResources('AWS::WAFv2::WebACL'));
      const blocks = webAcl?.['Properties'].Rules.flatMap(
        ({ Action }: { Action?: { Block: { CustomResponse: object } } }) =>
          Action ? [Action.Block.CustomResponse] : [],
      );
      const header = { Name: 'Access-Control-Allow-Origin', Value: allowed };
      expect(blocks).toHaveLength(3);
      for (const { ResponseHeaders } of blocks) expect(ResponseHeaders).toContainEqual(header);
    },
  );

  it('never allows cookies', () => {
    expect(JSON.stringify(ofTwo.toJSON())).not.toContain('Allow-Credentials');
  });

  it.each([
    '*',
    'null',
    'store.example',
    'https://store.example/',
    'https://store.example/pets',
    'https://Store.example',
    'https://store.example:443',
    'https://*.example',
    "https://a'.example",
    'https://a.example https://b.example',
  ])('is refused for %j, which no browser sends as an origin', (origin) => {
    expect(() => stackOf({ ...staging, corsOrigins: ['https://a.example', origin] })).toThrow(
      `corsOrigins of staging holds what is no origin: ${origin}`,
    );
  });
});

describe('a custom domain', () => {
  const domainName = 'api.example.com';
  const certificateArn = 'arn:aws:acm:eu-west-1:111122223333:certificate/1';
  const template = templateOf({ ...staging, customDomain: { domainName, certificateArn } });

  it("has the base path v1, its certificate, and the TLS policy of the API, in place of the API's own address", () => {
    template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: domainName,
      RegionalCertificateArn: certificateArn,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    template.hasResourceProperties('AWS::ApiGateway::BasePathMapping', {
      BasePath: 'v1',
      Stage: Match.anyValue(),
    });
    template.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true });
    template.hasOutput('BaseAddress', { Value: `https://${domainName}/v1` });
    template.hasOutput('DomainTarget', {});
  });
});

describe('a canary deployment', () => {
  const template = deployedTemplate(prod);
  const groups = Object.entries(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
  const aliases = Object.values(template.findResources('AWS::Lambda::Alias'));
  const alarms = template.findResources('AWS::CloudWatch::Alarm');
  const metricOf = (alarm: { Name: { Ref: string } }) => alarms[alarm.Name.Ref]?.['Properties'];
  const newVersion = { 'Fn::GetAtt': [expect.stringContaining('CurrentVersion'), 'Version'] };

  it('moves the alias of every function, 10 % of the requests for 10 minutes before the rest', () => {
    expect(aliases).toHaveLength(4);
    const movedBy = aliases.map(
      ({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
    );
    expect(movedBy.sort()).toEqual(groups.map(([id]) => id).sort());
    for (const [, { Properties }] of groups) {
      expect(Properties.DeploymentConfigName).toBe(
        'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      );
    }
  });

  it.each(groups)(
    'of %s rolls back when an alarm of its new version goes off, or the share of 5xx of the API is too high',
    (_id, { Properties }) => {
      expect(Properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      });
      const [crashes, errors, latency, service, ...others] = Properties.AlarmConfiguration.Alarms;
      expect(others).toEqual([]);
      for (const { Metrics } of [errors, latency].map(metricOf)) {
        for (const { MetricStat } of Metrics.slice(1)) {
          expect(MetricStat.Metric).toMatchObject({
            Namespace: 'AnimalStore',
            Dimensions: [
              { Name: 'operation' },
              { Name: 'service' },
              { Name: 'version', Value: newVersion },
            ],
          });
        }
      }
      expect(metricOf(crashes)).toMatchObject({
        Namespace: 'AWS/Lambda',
        MetricName: 'Errors',
        Dimensions: expect.arrayContaining([{ Name: 'ExecutedVersion', Value: newVersion }]),
      });
      expect(metricOf(service)).toMatchObject({ AlarmName: 'animal-store-prod-server-errors' });
    },
  );

  it('is absent where a stage takes a new version at once', () => {
    const atOnce = deployedTemplate(staging);
    atOnce.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
    for (const alias of Object.values(atOnce.findResources('AWS::Lambda::Alias'))) {
      expect(alias).not.toHaveProperty('UpdatePolicy');
    }
  });
});

describe('the firewall', () => {
  const template = deployedTemplate(prod);
  const [webAcl] = Object.values(template.findResources('AWS::WAFv2::WebACL'));
  const { Rules: rules, CustomResponseBodies: bodies } = webAcl?.['Properties'] ?? {};
  const rule = (name: string) => rules.find(({ Name }: { Name: string }) => Name === name);

  it.each([
    ['large-body', 413, 'payload_too_large'],
    ['flood-from-address', 429, 'too_many_requests'],
    ['flood-with-api-key', 429, 'too_many_requests'],
  ])('responds to %s with %i and the Error body %s', (name, status, code) => {
    const { CustomResponse: response } = rule(name).Action.Block;
    expect(response.ResponseCode).toBe(status);
    const { Content, ContentType } = bodies[response.CustomResponseBodyKey];
    expect(ContentType).toBe('APPLICATION_JSON');
    expect(JSON.parse(Content)).toEqual({ code, message: expect.any(String), status });
  });

  it('blocks a body over the limit of the functions, and one that is too large to inspect', () => {
    expect(rule('large-body').Statement.SizeConstraintStatement).toMatchObject({
      ComparisonOperator: 'GT',
      Size: 8_192,
      FieldToMatch: { Body: { OversizeHandling: 'MATCH' } },
    });
  });

  it('counts requests by address, and by API key', () => {
    const { requestsPerAddress, requestsPerApiKey } = prod.firewall ?? {};
    expect(rule('flood-from-address').Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: 'IP',
      Limit: requestsPerAddress,
    });
    expect(rule('flood-with-api-key').Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: 'CUSTOM_KEYS',
      CustomKeys: [{ Header: { Name: 'Authorization' } }],
      Limit: requestsPerApiKey,
    });
  });

  it('counts every spelling of a header with the same API key as one', () => {
    const [{ Header }] = rule('flood-with-api-key').Statement.RateBasedStatement.CustomKeys;
    expect(Header.TextTransformations).toEqual([
      { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
      { Priority: 1, Type: 'LOWERCASE' },
    ]);
  });

  it('only counts what looks like an attack in a body, because it may be the name of a pet', () => {
    const overrides = rules.flatMap(
      ({ Statement }: { Statement: { ManagedRuleGroupStatement?: object } }) =>
        Object.values(Statement.ManagedRuleGroupStatement ?? {}).flatMap((value) =>
          Array.isArray(value) ? value : [],
        ),
    );
    expect(overrides).toContainEqual({
      Name: 'CrossSiteScripting_BODY',
      ActionToUse: { Count: {} },
    });
    for (const { ActionToUse } of overrides) expect(ActionToUse).toEqual({ Count: {} });
  });

  it('shows no API key of a header or a query in sampled requests and logs', () => {
    expect(webAcl?.['Properties'].DataProtectionConfig).toEqual({
      DataProtections: [
        {
          Action: 'SUBSTITUTION',
          Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] },
        },
        { Action: 'SUBSTITUTION', Field: { FieldType: 'QUERY_STRING' } },
      ],
    });
  });

  it.each(Object.values(stages))('protects the API of $name with the same rules', (stage) => {
    const own = deployedTemplate(stage);
    own.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
    expect(stage.firewall).toEqual(prod.firewall);
  });

  it.each(['flood-from-address', 'flood-with-api-key'])(
    'tells who is blocked by %s to wait until its window has passed',
    (name) => {
      const { EvaluationWindowSec } = rule(name).Statement.RateBasedStatement;
      expect(rule(name).Action.Block.CustomResponse.ResponseHeaders).toContainEqual({
        Name: 'Retry-After',
        Value: `${EvaluationWindowSec}`,
      });
    },
  );

  it('logs what it blocks or counts, without Authorization, query and path', () => {
    const [log] = Object.keys(
      template.findResources('AWS::Logs::LogGroup', {
        Properties: { LogGroupName: 'aws-waf-logs-animal-store-prod' },
      }),
    );
    template.hasResource('AWS::Logs::LogGroup', {
      Properties: { LogGroupName: 'aws-waf-logs-animal-store-prod', RetentionInDays: 90 },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
    template.hasResourceProperties('AWS::WAFv2::LoggingConfiguration', {
      LogDestinationConfigs: [
        { 'Fn::Join': ['', [Match.stringLikeRegexp(':log-group:$'), { Ref: log }]] },
      ],
      RedactedFields: [
        { SingleHeader: { Name: 'authorization' } },
        { QueryString: {} },
        { UriPath: {} },
      ],
      LoggingFilter: Match.objectLike({ DefaultBehavior: 'DROP' }),
    });
  });
});

describe('an emulated stage', () => {
  const emulatedProd = emulated({ ...prod, name: 'staging' });

  it('is deployed where the credentials lead, unprotected, without what emulators lack', () => {
    const stack = stackOf(emulatedProd);
    expect(stack.terminationProtection).toBe(false);
    expect(stack.environment).toBe('aws://unknown-account/unknown-region');
    const template = Template.fromStack(stack);
    for (const type of ['CodeDeploy::DeploymentGroup', 'WAFv2::WebACL', 'CloudWatch::Alarm']) {
      template.resourceCountIs(`AWS::${type}`, 0);
    }
  });
});

describe('the stack of the account', () => {
  const template = Template.fromStack(new AccountStack(new App(), 'AnimalStore-account'));

  it('lets API Gateway write logs, and stays when the stack is deleted, but not when its creation fails', () => {
    const [role] = Object.keys(template.findResources('AWS::IAM::Role'));
    template.hasResource('AWS::ApiGateway::Account', {
      Properties: { CloudWatchRoleArn: { 'Fn::GetAtt': [role, 'Arn'] } },
      DeletionPolicy: 'RetainExceptOnCreate',
    });
    template.hasResource('AWS::IAM::Role', { DeletionPolicy: 'RetainExceptOnCreate' });
  });
});

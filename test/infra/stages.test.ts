import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { AccountStack } from '../../infra/stacks/account-stack.ts';
import { emulated, prod, requireSafe, type Stage, stages, staging } from '../../infra/stages.ts';
import { operations } from '../../lib/contract/operations.ts';
import { deployedTemplate, idOf, stackOf, templateOf } from '../support/stack.ts';

const noAlarms = { canaryMinutes: undefined, alarmAddressees: [] };

describe.each(Object.values(stages))('$name', (stage) => {
  it('is deployed only to its own account and region, with its tags', () => {
    const { account, region, tags } = stackOf(stage);
    expect({ account, region }).toEqual(stage.environment);
    expect(tags.tagValues()).toEqual({ service: 'animal-store', stage: stage.name });
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
    expect(() => stackOf({ ...stage, canaryMinutes: 1, alarmAddressees: [] })).toThrow(
      `${stage.name} is unsafe: canaryMinutes is set without alarmAddressees`,
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
  const reserved = functions.flatMap(
    ({ Properties }) => Properties.ReservedConcurrentExecutions ?? [],
  );
  expect(reserved).toEqual([...operations.map(() => 100), 20]);
  expect(functions[operations.length]?.['Properties'].Handler).toBe('unrouted.handler');
});

describe('CORS', () => {
  const [one, two] = ['https://a.example', 'https://b.example'];
  const ofOne = templateOf({ ...prod, corsOrigins: [one] });
  const ofTwo = templateOf({ ...prod, corsOrigins: [one, two] });

  it('tells every function of the API the origins', () => {
    const Variables = Match.objectLike({ CORS_ORIGINS: `${one} ${two}` });
    ofTwo.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { Environment: { Variables } },
      operations.length + 1,
    );
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
      `corsOrigins of staging: ${origin} is not an origin`,
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

describe.each([
  [staging, 1],
  [prod, 10],
] as const)('a canary deployment of $name', (stage, minutes) => {
  const template = deployedTemplate(stage);
  const groups = Object.entries(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
  const aliases = Object.values(template.findResources('AWS::Lambda::Alias'));
  const alarms = template.findResources('AWS::CloudWatch::Alarm');

  it(`moves the alias of every function, 10 % of the requests for ${minutes} minutes before the rest`, () => {
    expect(aliases).toHaveLength(operations.length + 1);
    const updates = aliases.map(({ UpdatePolicy }) => UpdatePolicy.CodeDeployLambdaAliasUpdate);
    expect(updates.map(({ DeploymentGroupName }) => DeploymentGroupName.Ref).sort()).toEqual(
      groups.map(([id]) => id).sort(),
    );
    const config = idOf(template, 'AWS::CodeDeploy::DeploymentConfig', 'CanaryConfig');
    for (const [, { Properties }] of groups) {
      expect(Properties.DeploymentConfigName).toEqual({ Ref: config });
    }
    template.hasResourceProperties('AWS::CodeDeploy::DeploymentConfig', {
      TrafficRoutingConfig: {
        Type: 'TimeBasedCanary',
        TimeBasedCanary: { CanaryInterval: minutes, CanaryPercentage: 10 },
      },
    });
  });

  it('checks the new versions of all functions before any alias moves', () => {
    const check = idOf(template, 'AWS::Lambda::Function', 'Canarybeforetraffic');
    const environment =
      template.findResources('AWS::Lambda::Function')[check]?.['Properties'].Environment.Variables;
    const versions = Object.keys(template.findResources('AWS::Lambda::Version'));
    expect(Object.values(environment)).toEqual(
      expect.arrayContaining(versions.map((Ref) => ({ Ref }))),
    );
    const policy = idOf(template, 'AWS::IAM::Policy', 'CanaryRole');
    for (const { UpdatePolicy, DependsOn } of aliases) {
      expect(UpdatePolicy.CodeDeployLambdaAliasUpdate.BeforeAllowTrafficHook).toEqual({
        Ref: check,
      });
      expect(DependsOn).toEqual(expect.arrayContaining([check, policy]));
    }
  });

  it.each(groups)(
    'of %s rolls back for its new version or for 5xx of the API',
    (id, { Properties }) => {
      expect(Properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      });
      const [lambda] = /listpets|createpet|getpet|unrouted/.exec(id) ?? [];
      const own = ['errors', 'server-errors', 'latency'].map((what) => `canary-${what}-${lambda}`);
      const taking: { Name: { Ref: string } }[] = Properties.AlarmConfiguration.Alarms;
      const found = taking.map(({ Name }) => alarms[Name.Ref]?.['Properties']);
      expect(found.map(({ AlarmName }) => AlarmName.replace(/-(?=pets?$)/, ''))).toEqual(
        [...own, 'server-errors'].map((name) => `animal-store-${stage.name}-${name}`),
      );
      for (const alarm of found.slice(0, -1)) {
        expect(JSON.stringify(alarm)).toMatch(/CurrentVersion\w+","Version"/);
      }
    },
  );
});

it('a stage without canaryMinutes takes a new version at once', () => {
  const atOnce = templateOf({ ...staging, canaryMinutes: undefined });
  atOnce.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
  for (const alias of Object.values(atOnce.findResources('AWS::Lambda::Alias'))) {
    expect(alias).not.toHaveProperty('UpdatePolicy');
  }
});

describe.each(Object.values(stages))('the firewall of $name', (stage) => {
  const template = deployedTemplate(stage);
  const [webAcl] = Object.values(template.findResources('AWS::WAFv2::WebACL'));
  const { Rules, CustomResponseBodies, DataProtectionConfig } = webAcl?.['Properties'] ?? {};
  const rule = (name: string) => Rules.find(({ Name }: { Name: string }) => Name === name);
  const waitForTheWindow = [{ Name: 'Retry-After', Value: '300' }];

  it.each([
    ['large-body', 413, 'payload_too_large', []],
    ['flood-from-address', 429, 'too_many_requests', waitForTheWindow],
    ['flood-with-api-key', 429, 'too_many_requests', waitForTheWindow],
  ])(
    'responds to %s with %i, the Error body %s and when to come back',
    (name, status, code, headers) => {
      const { CustomResponse: response } = rule(name).Action.Block;
      expect(response.ResponseCode).toBe(status);
      expect(response.ResponseHeaders).toEqual(expect.arrayContaining(headers));
      const { Content, ContentType } = CustomResponseBodies[response.CustomResponseBodyKey];
      expect(ContentType).toBe('APPLICATION_JSON');
      expect(JSON.parse(Content)).toEqual({ code, message: expect.any(String), status });
    },
  );

  it('blocks a body over the limit of the functions, and one that is too large to inspect', () => {
    template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
    expect(rule('large-body').Statement.SizeConstraintStatement).toMatchObject({
      ComparisonOperator: 'GT',
      Size: 8_192,
      FieldToMatch: { Body: { OversizeHandling: 'MATCH' } },
    });
  });

  it('counts requests by address', () => {
    expect(rule('flood-from-address').Statement.RateBasedStatement).toEqual({
      AggregateKeyType: 'IP',
      EvaluationWindowSec: 300,
      Limit: stage.firewall?.requestsPerAddress,
    });
  });

  it('counts every spelling of a header with the same API key as one', () => {
    const TextTransformations = [
      { Priority: 0, Type: 'COMPRESS_WHITE_SPACE' },
      { Priority: 1, Type: 'LOWERCASE' },
    ];
    expect(rule('flood-with-api-key').Statement.RateBasedStatement).toEqual({
      AggregateKeyType: 'CUSTOM_KEYS',
      CustomKeys: [{ Header: { Name: 'Authorization', TextTransformations } }],
      EvaluationWindowSec: 300,
      Limit: stage.firewall?.requestsPerApiKey,
    });
  });

  it('only counts what looks like an attack in a body, because it may be the name of a pet', () => {
    const groups = Rules.flatMap(
      ({ Statement }: { Statement: { ManagedRuleGroupStatement?: object } }) =>
        Statement.ManagedRuleGroupStatement ?? [],
    );
    expect(groups).toHaveLength(3);
    const overrides = groups.flatMap(({ RuleActionOverrides = [] }) => RuleActionOverrides);
    const ActionToUse = { Count: {} };
    expect(overrides).toContainEqual({ Name: 'CrossSiteScripting_BODY', ActionToUse });
    for (const override of overrides) expect(override).toMatchObject({ ActionToUse });
  });

  it('shows no API key of a header or a query in sampled requests and logs', () => {
    const header = { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] };
    expect(DataProtectionConfig.DataProtections).toEqual([
      { Action: 'SUBSTITUTION', Field: header },
      { Action: 'SUBSTITUTION', Field: { FieldType: 'QUERY_STRING' } },
    ]);
  });

  it('logs what it blocks or counts, without Authorization, query and path', () => {
    template.hasResource('AWS::Logs::LogGroup', {
      Properties: {
        LogGroupName: `aws-waf-logs-animal-store-${stage.name}`,
        RetentionInDays: stage.accessLogRetentionDays,
      },
      DeletionPolicy: stage.retainData ? 'RetainExceptOnCreate' : 'Delete',
    });
    const log = { Ref: idOf(template, 'AWS::Logs::LogGroup', 'ApiFirewallLog') };
    template.hasResourceProperties('AWS::WAFv2::LoggingConfiguration', {
      LogDestinationConfigs: [{ 'Fn::Join': ['', [Match.stringLikeRegexp(':log-group:$'), log]] }],
      RedactedFields: [
        { SingleHeader: { Name: 'authorization' } },
        { QueryString: {} },
        { UriPath: {} },
      ],
      LoggingFilter: Match.objectLike({ DefaultBehavior: 'DROP' }),
    });
  });
});

it('staging has the firewall of prod', () => {
  expect(staging.firewall).toEqual(prod.firewall);
});

describe('an emulated stage', () => {
  const emulatedProd = emulated({ ...prod, name: 'staging' });

  it('is deployed where the credentials lead, unprotected, without what emulators lack', () => {
    const stack = stackOf(emulatedProd);
    expect(stack.terminationProtection).toBe(false);
    expect(stack.environment).toBe('aws://unknown-account/unknown-region');
    const template = Template.fromStack(stack);
    expect(JSON.stringify(template.toJSON())).not.toMatch(
      /AWS::(CodeDeploy|WAFv2|CloudWatch|SNS|Events)::/,
    );
    template.resourceCountIs('AWS::Lambda::Function', operations.length + 1);
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

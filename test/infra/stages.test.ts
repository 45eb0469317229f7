import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { functionNames, trafficShifts } from '../../infra/settings/names.ts';
import { validateStage } from '../../infra/settings/stage-problems.ts';
import {
  emulated,
  firewallLimit,
  firewallWindowSec,
  prod,
  rehearsal,
  type Stage,
  stages,
  staging,
  throttleOf,
} from '../../infra/settings/stages.ts';
import { errors } from '../../lib/contract/errors.ts';
import { operations } from '../../lib/operations/operations.ts';
import { deployedTemplate, idOf, propertiesOf, stackOf, templateOf } from '../support/templates.ts';

const noMonitoring = { checkBeforeTraffic: false, canaryMinutes: 0, monitoring: false };

describe('a stage is refused', () => {
  it.each([
    ['env', { env: undefined }],
    ['retainData', { retainData: false }],
    ['deletionProtection', { deletionProtection: false }],
    ['terminationProtection', { terminationProtection: false }],
    ['pointInTimeRecoveryDays', { pointInTimeRecoveryDays: 0 }],
    ['monitoring', noMonitoring],
    ['retainData.*; monitoring', { retainData: false, ...noMonitoring }],
  ] satisfies [string, Partial<Stage>][])(
    'in production for an unsafe %s, which staging may have',
    (names, unsafe) => {
      expect(() => stackOf({ ...prod, ...unsafe })).toThrow(
        new RegExp(`^prod is unsafe: ${names}`),
      );
      expect(() => validateStage({ ...prod, name: 'prod-us', ...unsafe })).toThrow(
        /^prod-us is unsafe/,
      );
      expect(() => validateStage({ ...staging, ...unsafe })).not.toThrow();
    },
  );

  it.each([
    ['canaryMinutes.*checkBeforeTraffic', { checkBeforeTraffic: false, canaryMinutes: 1 }],
    ['checkBeforeTraffic.*monitoring', { monitoring: false }],
  ])('for a setting without the one that it needs: %s', (names, unsafe) => {
    const reason = new RegExp(`^staging is unsafe: ${names}`);
    expect(() => stackOf({ ...staging, ...unsafe })).toThrow(reason);
  });

  it.each([
    '*',
    'null',
    'store.example',
    'https://store.example/',
    'https://Store.example',
    'https://store.example:443',
    'https://*.example',
    "https://a'.example",
  ])('for CORS of %j, which no browser sends as an origin', (origin) => {
    expect(() => stackOf({ ...staging, corsOrigins: ['https://a.example', origin] })).toThrow(
      `staging is unsafe: corsOrigins: ${origin} is not an origin`,
    );
  });
});

describe.each([
  ['the origin, where it is the only one', ['https://a.example'], 'https://a.example'],
  ['any origin, where there are several', ['https://a.example', 'https://b.example'], '*'],
])('CORS for %s', (_which, corsOrigins, allowed) => {
  const template = templateOf({ ...prod, corsOrigins });

  it('is told to every function of the API', () => {
    const CORS_ORIGINS = corsOrigins.join(' ');
    const Environment = { Variables: Match.objectLike({ CORS_ORIGINS }) };
    const count = functionNames.length;
    template.resourcePropertiesCountIs('AWS::Lambda::Function', { Environment }, count);
  });

  it('lets its pages read responses of the gateway and the firewall, without cookies', () => {
    template.allResourcesProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseParameters: Match.objectLike({
        'gatewayresponse.header.Access-Control-Allow-Origin': `'${allowed}'`,
        'gatewayresponse.header.Access-Control-Expose-Headers':
          Match.stringLikeRegexp('Retry-After'),
      }),
    });
    const header = { Name: 'Access-Control-Allow-Origin', Value: allowed };
    for (const { Action } of webAclOf(template)['Rules'])
      if (Action) expect(Action.Block.CustomResponse.ResponseHeaders).toContainEqual(header);
    expect(JSON.stringify(template.toJSON())).not.toContain('Allow-Credentials');
  });
});

const domainName = 'api.example.com';
const certificateArn = 'arn:aws:acm:eu-west-1:111122223333:certificate/1';
const customDomain = { domainName, certificateArn };
const withDomain: Stage = { ...staging, customDomain };

it('a custom domain has the base path v1, its certificate and the TLS of the API, and is probed', () => {
  const template = templateOf(withDomain);
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
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    DisableExecuteApiEndpoint: Match.absent(),
  });
  const Value = `https://${domainName}/v1`;
  template.hasOutput('BaseAddress', { Value });
  const Environment = { Variables: Match.objectLike({ BASE_ADDRESS: Value }) };
  template.hasResourceProperties('AWS::Lambda::Function', { Environment });
  template.hasOutput('DomainTarget', {});
});

const withCheck = stages.filter(({ checkBeforeTraffic }) => checkBeforeTraffic);

it.each(withCheck)('a new version of $name is checked before any alias moves', (stage) => {
  const template = deployedTemplate(stage);
  const check = idOf(template, 'AWS::Lambda::Function', 'Canarybeforetraffic');
  const policy = idOf(template, 'AWS::IAM::Policy', 'CanaryRole');
  for (const { DependsOn } of Object.values(template.findResources('AWS::Lambda::Alias')))
    expect(DependsOn).toEqual(expect.arrayContaining([check, policy]));
});

const withCanary = stages.filter(({ canaryMinutes }) => canaryMinutes > 0);

it.each(withCanary)(
  '$name has a canary unless a deployment is told to move all requests',
  (stage) => {
    const template = deployedTemplate(stage);
    template.hasCondition('IsCanary', { 'Fn::Equals': [{ Ref: 'Traffic' }, 'canary'] });
    template.hasParameter('Traffic', { Default: 'canary', AllowedValues: [...trafficShifts] });
  },
);

const webAclOf = (template: Template) => propertiesOf(template, 'AWS::WAFv2::WebACL')[0] ?? {};

describe('the firewall', () => {
  const { CustomResponseBodies } = webAclOf(deployedTemplate(prod));

  it.each([errors.payloadTooLarge(), errors.tooManyRequests()])(
    'has the Error body of $code for the requests that it blocks',
    ({ code, body }) => {
      const { Content, ContentType } = CustomResponseBodies[code];
      expect(ContentType).toBe('APPLICATION_JSON');
      expect(JSON.parse(Content)).toEqual(body);
    },
  );

  it.each([...stages, rehearsal])('lets no client use up an operation in $name', (stage) => {
    const clientMean = firewallLimit(stage) / firewallWindowSec;
    for (const { name } of operations) {
      const half = throttleOf(stage, name).ratePerSecond / 2;
      const reason = `Lower clientShare in stages.ts, or raise the throttle of ${name} in lib/operations/: one client may send more than half of it`;
      expect(clientMean, reason).toBeLessThanOrEqual(half);
    }
  });
});

it('an emulated stage is deployed where the credentials lead, unprotected, without what emulators lack', () => {
  const stack = stackOf(emulated({ ...prod, apiKeyPrefix: 'pets_test', customDomain }));
  expect(stack.terminationProtection).toBe(false);
  expect(stack.environment).toBe('aws://unknown-account/unknown-region');
  const template = Template.fromStack(stack);
  expect(JSON.stringify(template.toJSON())).not.toMatch(
    /AWS::(CodeDeploy::|WAFv2::|CloudWatch::|ApiGateway::DomainName)/,
  );
});

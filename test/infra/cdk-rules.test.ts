import { Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import recommendedFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { addSecurityRules } from '../../infra/constructs/security-rules.ts';
import { stackName } from '../../infra/settings/names.ts';
import { emulated, rehearsal, stageNamed, stages, staging } from '../../infra/settings/stages.ts';
import { AnimalStoreStack } from '../../infra/stacks/animal-store-stack.ts';
import { deployedTemplate, newApp } from '../support/templates.ts';

describe('the templates', () => {
  it('pass the CDK’s own rules and the security rules, also those of other stages', {
    // It computes all the time, so that other load slows it down most.
    timeout: 300_000,
  }, () => {
    const app = newApp({ builtinCloudFormationValidation: true });
    const others = [rehearsal, stageNamed('dev-alice'), { ...emulated(staging), name: 'emulated' }];
    for (const stage of [...stages, ...others]) new AnimalStoreStack(app, stackName(stage), stage);
    addSecurityRules(app);
    app.synth();
  });

  it('follow the feature flags of cdk.json without the command line of the CDK', () => {
    // Without `enablePartitionLiterals`, the partition would be a reference.
    const template = JSON.stringify(deployedTemplate(staging).toJSON());
    expect(template).toContain('arn:aws:apigateway');
  });

  it('set every flag that the CDK recommends', () => {
    expect(cdk.context).toMatchObject(recommendedFlags);
  });
});

it.each([
  ['without TLS', 'AwsSolutions-SQS4'],
  ['without a redrive policy', 'Serverless-SQSRedrivePolicy'],
])('the synthesis fails on a queue %s, and names the rule %s', (_what, rule) => {
  const app = newApp();
  new Queue(new Stack(app, 'Stack'), 'Queue');
  addSecurityRules(app);
  expect(() => app.synth()).toThrow(rule);
});

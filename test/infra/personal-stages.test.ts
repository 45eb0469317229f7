import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { stageNamed, stages } from '../../infra/settings/stages.ts';
import { operations } from '../../lib/operations/operations.ts';
import { stackOf } from '../support/templates.ts';

describe('the name of a stage', () => {
  it.each(stages)('$name is that of the permanent stage', (stage) => {
    expect(stageNamed(stage.name)).toBe(stage);
  });

  it.each(['dev-alice', 'dev-pr-12', 'dev-1', `dev-${'x'.repeat(16)}`])(
    '%s is that of a personal stage',
    (name) => {
      expect(stageNamed(name)).toMatchObject({ name, env: undefined });
    },
  );

  it.each([
    // The letter of `рrod` is Cyrillic.
    ...['prod2', 'Prod', 'my-prod', 'рrod', 'prod\n', 'stagign', 'local', 'account', ''],
    ...['dev', 'dev-', 'dev-a-', 'dev--a', 'dev-A', 'dev-a_b', 'dev-a\n', `dev-${'x'.repeat(17)}`],
  ])('%j is refused, with the reason', (name) => {
    expect(() => stageNamed(name)).toThrow(`There is no stage ${JSON.stringify(name)}.`);
  });
});

it('the stage of the rehearsal has what stops a bad release, and its alarms tell no one', () => {
  const template = Template.fromStack(stackOf(stageNamed('dev-rehearsal')));
  template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', operations.length + 1);
  template.resourceCountIs('AWS::WAFv2::WebACL', 1);
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  expect(Object.keys(template.findResources('AWS::CloudWatch::Alarm'))).not.toEqual([]);
});

describe.each(['dev-alice', 'dev-rehearsal'])('the personal stage %s', (name) => {
  const stack = stackOf(stageNamed(name));
  const template = Template.fromStack(stack);

  it('leaves nothing behind when its stack is deleted', () => {
    expect(stack.terminationProtection).toBe(false);
    const resources: Record<string, { Type: string; DeletionPolicy?: string }> =
      template.toJSON()['Resources'];
    const kept = Object.values(resources).filter(
      ({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete',
    );
    // The versions of a function are deleted with it:
    // https://docs.aws.amazon.com/lambda/latest/api/API_DeleteFunction.html
    expect(new Set(kept.map(({ Type }) => Type))).toEqual(new Set(['AWS::Lambda::Version']));
    template.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
    expect(JSON.stringify(template.toJSON())).not.toContain('PointInTimeRecoveryEnabled":true');
  });

  it('shares no name with staging', () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/staging/i);
  });
});

it('a personal stage has neither alarms nor a firewall', () => {
  const template = Template.fromStack(stackOf(stageNamed('dev-alice')));
  template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
  template.resourceCountIs('AWS::WAFv2::WebACL', 0);
});

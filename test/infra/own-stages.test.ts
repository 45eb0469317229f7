import { Template } from 'aws-cdk-lib/assertions';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stageNamed, stages, staging } from '../../infra/settings/stages.ts';
import { operations } from '../../lib/contract/operations.ts';
import { stackOf } from '../support/stack.ts';

describe('the name of a stage', () => {
  it.each(stages)('$name is that of the permanent stage', (stage) => {
    expect(stageNamed(stage.name)).toBe(stage);
  });

  it.each(['alice', 'pr-12', 'pr-5', 'night-2026-11-22', 'oliver', 'a1', 'x'.repeat(20)])(
    '%s is that of a stage of its own',
    (name) => {
      expect(stageNamed(name)).toMatchObject({ name, environment: staging.environment });
    },
  );

  it.each([
    'prod2',
    'production',
    'Prod',
    'PROD',
    'prod-eu',
    'my-prod',
    'preprod',
    'p-r-o-d',
    'pr0d',
    'prdo',
    'prood',
    'pod',
    'pród',
    'рrod', // with a Cyrillic letter
    'prod ',
    'prod\n',
    '\u200bprod',
    'staging2',
    'Staging',
    'stagign',
    '5tag1ng',
    'stage',
    'pre-stage',
    'stg',
    'live',
    'Live',
  ])('%j is refused, because it could be taken for a permanent stage', (name) => {
    expect(() => stageNamed(name)).toThrow(/^The stage ".*" could be taken for .*: choose another/);
  });

  it.each([
    ['local', /^local has another meaning/],
    ['account', /^account has another meaning/],
    ['github', /^github has another meaning/],
    ['account-1-eu-west-1', /^account-1-eu-west-1 has another meaning/],
    ...['', 'a', '1a', '-a', 'a-', 'a--b', 'a_b', 'a.b', 'Alice', 'álice', 'a b', 'alice\n'].map(
      (name) => [name, /^There is no stage ".*"\. The name of .* 2 to 20 characters/] as const,
    ),
    ['x'.repeat(21), /2 to 20 characters/],
  ] as const)('%j is refused, with the reason', (name, message) => {
    expect(() => stageNamed(name)).toThrow(message);
  });

  it('is refused if it is that of a permanent stage with a slip', () => {
    const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');
    const slip = fc
      .record({ stage: fc.constantFrom(...stages), at: fc.nat(), letter })
      .chain(({ stage: { name }, at, letter: wrong }) => {
        const place = at % name.length;
        const [before, here, after] = [name.slice(0, place), name[place], name.slice(place + 1)];
        return fc.constantFrom(
          before + after,
          before + wrong + after,
          before + wrong + here + after,
          before + after.slice(0, 1) + here + after.slice(1),
        );
      });
    fc.assert(
      fc.property(slip, (name) => {
        const isPermanent = stages.some((stage) => stage.name === name);
        if (!isPermanent) expect(() => stageNamed(name)).toThrow('could be taken for');
      }),
    );
  });
});

it('the stage of the rehearsal has what stops a bad release, and its alarms tell no one', () => {
  const template = Template.fromStack(stackOf(stageNamed('rehearsal')));
  template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', operations.length + 1);
  template.resourceCountIs('AWS::WAFv2::WebACL', 1);
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  expect(Object.keys(template.findResources('AWS::CloudWatch::Alarm'))).not.toEqual([]);
});

describe.each(['alice', 'rehearsal'])('the stage %s of its own', (name) => {
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

  it('tells none of the addressees of staging', () => {
    const text = JSON.stringify(template.toJSON());
    for (const address of staging.alarmAddressees ?? []) expect(text).not.toContain(address);
  });

  it('shares no name with staging', () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/staging/i);
  });
});

describe('a stage of its own', () => {
  it('has no alarms', () => {
    const template = Template.fromStack(stackOf(stageNamed('alice')));
    template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
  });
});

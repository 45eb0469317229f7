import { readdirSync } from 'node:fs';
import recommendedFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import cdk from '../../cdk.json' with { type: 'json' };
import { accountStackId, stackName } from '../../infra/settings/names.ts';
import { stages, staging } from '../../infra/settings/stages.ts';
import { AccountStack } from '../../infra/stacks/account-stack.ts';
import { AnimalStoreStack } from '../../infra/stacks/animal-store-stack.ts';
import { assemblyDirectory, deployedTemplate, newApp } from '../support/stack.ts';

const assembly = assemblyDirectory();

describe('the templates', () => {
  it('are one for each stage, and one for each account and region', () => {
    const templates = readdirSync(assembly).filter((name) => name.endsWith('.template.json'));
    const names = stages.flatMap((stage) => [stackName(stage), accountStackId(stage)]);
    expect(templates.sort()).toEqual(
      [...new Set(names)].map((name) => `${name}.template.json`).sort(),
    );
  });

  it('pass the CDK’s own rules', () => {
    const app = newApp({ builtinCloudFormationValidation: true });
    new AccountStack(app, 'AnimalStore-account');
    for (const stage of stages) new AnimalStoreStack(app, stackName(stage), stage);
    expect(() => app.synth()).not.toThrow();
  });

  it('follow the feature flags of cdk.json without the command line of the CDK', () => {
    // Of these flags, `enablePartitionLiterals` is the one that shows everywhere.
    const template = JSON.stringify(deployedTemplate(staging).toJSON());
    expect(template).toContain('arn:aws:apigateway');
    // In the ARN of a policy of AWS's own, which the CDK writes.
    expect(template.match(/AWS::Partition/g)).toHaveLength(1);
  });

  it('set every flag that the CDK recommends', () => {
    expect(cdk.context).toMatchObject(recommendedFlags);
  });
});

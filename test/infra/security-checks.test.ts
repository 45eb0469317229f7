import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';

/** Synthesises prod with more in it, in a process of its own, for a finding sets the exit code. */
const synthesiseWith = (statement: string) => {
  const outdir = mkdtempSync(join(tmpdir(), 'animal-store-checks-'));
  const script = `
    import { App } from 'aws-cdk-lib';
    import { Topic } from 'aws-cdk-lib/aws-sns';
    import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
    import { featureFlags } from './infra/feature-flags.ts';
    import { AnimalStoreStack } from './infra/stacks/animal-store-stack.ts';
    import { addSecurityChecks } from './infra/stacks/security-checks.ts';
    import { prod } from './infra/stages.ts';
    const app = new App({ context: featureFlags, outdir: ${JSON.stringify(outdir)} });
    const stack = new AnimalStoreStack(app, 'Stack', { stage: prod });
    addSecurityChecks(app);
    ${statement}
    app.synth();`;
  try {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { cwd: projectDirectory, encoding: 'utf8' },
    );
    return { status, stderr };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
};

describe('the synthesis', () => {
  it('passes when every finding is mended or acknowledged', () => {
    expect(synthesiseWith('')).toMatchObject({ status: 0 });
  });

  it.each([
    ['a topic without TLS', "new Topic(stack, 'Sentinel');", 'AwsSolutions-SNS3'],
    [
      'a function that may do all',
      "stack.node.findChild('get-pet').lambda.role.addToPrincipalPolicy(new PolicyStatement({ actions: ['dynamodb:*'], resources: ['*'] }));",
      'AwsSolutions-IAM5[Action::dynamodb:*]',
    ],
  ])('fails on %s, and names the rule', (_what, statement, rule) => {
    const { status, stderr } = synthesiseWith(statement);
    expect(status).toBe(1);
    expect(stderr).toContain(rule);
  });
});

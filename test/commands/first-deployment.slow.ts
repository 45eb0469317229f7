import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, startAwsEndpoint, xml } from '../support/aws-endpoint.ts';
import { copyProject } from '../support/project-copy.ts';

const account = '777777777777';
const aws = await startAwsEndpoint();
const project = await copyProject();
const run = (command: string) => project.run(command, aws.variables);

beforeAll(async () => {
  await project.set('staging', account);
  project.commit('staging');
  aws.responses = {
    GetCallerIdentity: xml('GetCallerIdentity', { Account: account }),
    'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
    'GET /account': json({ cloudwatchRoleArn: `arn:aws:iam::${account}:role/logs` }),
    'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 1_000 } }),
    ListStackResources: xml('ListStackResources', {}),
    DescribeStacks: xml('DescribeStacks', {}),
    DescribeChangeSet: xml('DescribeChangeSet', { ExecutionStatus: 'UNAVAILABLE' }),
  };
});

afterAll(async () => {
  aws.stop();
  await project.remove();
});

describe('with staging set, and prod not set yet', () => {
  it('npm run deploy accepts staging', async () => {
    const { err, cdk } = await run('node infra/commands/deploy/main.ts --stage staging --yes');
    expect(err).not.toContain('prod');
    expect(cdk.join()).toContain('prepare-change-set');
  });

  it.each([
    'node infra/commands/deploy/main.ts --stage prod --yes',
    'cdk synth --context stage=prod --context code-cache=off',
  ])('%s refuses prod, and says what to set', async (command) => {
    const { err, exitCode } = await project.run(command, aws.variables, { isRealCdk: true });
    expect(err).toContain('environment of prod has no account');
    expect(exitCode).toBe(1);
  });
});

describe('with prod set too, in the same account', () => {
  beforeAll(() => project.set('prod', account));

  it('npm run deploy warns that a release of staging can change prod', async () => {
    const { err } = await run('node infra/commands/deploy/main.ts --stage staging --yes');
    expect(err).toMatch(new RegExp(`warning: .* account ${account} of prod, .*staging can change`));
  });

  it('npm run deploy puts no personal stage into the account of a stage in production', async () => {
    const command = 'node infra/commands/deploy/main.ts --stage dev-alice --yes';
    const { err, exitCode, cdk } = await run(command);
    expect(err).toContain(`The credentials belong to the account ${account} of prod: use others.`);
    expect({ exitCode, cdk }).toEqual({ exitCode: 1, cdk: [] });
  });
});

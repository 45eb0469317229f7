import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { lossesOf } from '../../infra/commands/deploy/change-set.ts';
import { stackName } from '../../infra/names.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { stages } from '../../infra/stages.ts';
import { json, startAwsEndpoint, xml, xmlError } from '../support/aws-endpoint.ts';

const table = 'AWS::DynamoDB::Table';
const api = 'AWS::ApiGateway::RestApi';

const aws = await startAwsEndpoint();
const directory = await mkdtemp(join(tmpdir(), 'animal-store-deploy-'));
// This replaces the CDK's CLI, and writes down its arguments.
await writeFile(join(directory, 'cdk'), '#!/bin/sh\necho "$*" >>"$0.log"\n', { mode: 0o755 });

describe('changes that lose data or the address of the API', () => {
  it.each([
    [table, 'Modify', 'True', true],
    [table, 'Modify', 'Conditional', true],
    [table, 'Remove', undefined, true],
    [table, 'Dynamic', undefined, true],
    [api, 'Modify', 'True', true],
    [api, 'Remove', undefined, true],
    [table, 'Add', undefined, false],
    [table, 'Import', undefined, false],
    [table, 'Modify', 'False', false],
    [api, 'Modify', 'False', false],
    ['AWS::Lambda::Version', 'Remove', undefined, false],
    ['AWS::ApiGateway::Deployment', 'Modify', 'True', false],
  ] as const)('%s: %s, replacement %s: %s', (ResourceType, Action, Replacement, isLoss) => {
    const change = { Action, ResourceType, LogicalResourceId: 'Kept', Replacement };
    const line = expect.stringMatching(`^${ResourceType} Kept: ${Action}.*\\.$`);
    expect(lossesOf([{ ResourceChange: change }])).toEqual(isLoss ? [line] : []);
  });
});

describe('npm run deploy', () => {
  afterAll(async () => {
    aws.stop();
    await rm(directory, { recursive: true });
  });

  /**
   * Deploys to an account that is ready and whose change set has these changes. Returns the
   * commands of the CDK that it ran.
   */
  const deploy = async (Changes: object[] | undefined, ...words: string[]) => {
    const ExecutionStatus = Changes ? 'AVAILABLE' : 'UNAVAILABLE';
    aws.answers = {
      'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
      'GET /account': json({ cloudwatchRoleArn: 'arn:aws:iam::000000000000:role/logs' }),
      ListStackResources: xmlError('ValidationError'),
      DescribeChangeSet: xml('DescribeChangeSet', { ExecutionStatus, Changes: Changes ?? [] }),
    };
    const log = join(directory, 'cdk.log');
    await writeFile(log, '');
    const command = ['infra/commands/deploy/main.ts', ...words, '--context', 'emulator=true'];
    const PATH = `${directory}:${process.env['PATH']}`;
    const child = spawn(process.execPath, command, {
      cwd: projectDirectory,
      env: { ...aws.variables, AWS_REGION: 'eu-west-1', PATH },
    });
    const [err, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    const cdk = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
    return { err, exitCode, cdk };
  };
  const changeOf = (Replacement: string) => {
    const change = {
      Action: 'Modify',
      ResourceType: table,
      LogicalResourceId: 'Pets',
      Replacement,
    };
    return [{ ResourceChange: change }];
  };
  const options = ['--require-approval', 'never', '--outputs-file', 'outputs.json'];

  it('executes exactly the change set that it has checked', async () => {
    const result = await deploy(changeOf('False'), 'AnimalStore-staging', ...options);
    const described = aws.requests.find(({ action }) => action === 'DescribeChangeSet');
    const changeSet = new URLSearchParams(described?.body).get('ChangeSetName');
    const cdk = [
      `deploy AnimalStore-staging ${options.join(' ')} --context emulator=true --method prepare-change-set --change-set-name ${changeSet}`,
      `deploy AnimalStore-staging --app cdk.out --method execute-change-set --change-set-name ${changeSet} --require-approval never --outputs-file outputs.json`,
    ];
    expect(result).toEqual({ err: '', exitCode: 0, cdk });
  });

  it('executes a change set that changes only outputs', async () => {
    const { exitCode, cdk } = await deploy([], 'AnimalStore-staging');
    expect([exitCode, cdk.length]).toEqual([0, 2]);
  });

  it('deploys a stage of its own by its name', async () => {
    const { err, exitCode, cdk } = await deploy([], '--stage', 'alice');
    expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
    expect(cdk).toEqual([
      expect.stringMatching(
        /^deploy AnimalStore-alice --context emulator=true --context stage=alice --method prepare/,
      ),
      expect.stringMatching(/^deploy AnimalStore-alice --app cdk.out --method execute-change-set /),
    ]);
  });

  const loss =
    'error: AWS::DynamoDB::Table Pets: Modify with Replacement True. See "Replace a table"';
  const names = ['AnimalStore-account', ...stages.map(stackName)].join(', ');
  it.each([
    ['that would lose a table', changeOf('True'), 'AnimalStore-staging', 1, loss, 1],
    ['if nothing differs', undefined, 'AnimalStore-account', 0, '', 1],
    [
      'of a stack that does not exist',
      [],
      'AnimalStore-dev',
      1,
      `error: Name a stack: ${names}.`,
      0,
    ],
    [
      'without the name of a stack',
      [],
      '--require-approval=never',
      1,
      `Name a stack: ${names}.`,
      0,
    ],
    ['with an option that it does not know', [], '--all', 1, "error: unknown option '--all'", 0],
  ])('executes nothing %s', async (_what, changes, id, status, message, prepared) => {
    const { err, exitCode, cdk } = await deploy(changes, id);
    expect(err).toContain(message);
    expect([exitCode, cdk.length]).toEqual([status, prepared]);
    expect(cdk.join()).not.toContain('execute-change-set');
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { lossesOf, mixedIndexesOf } from '../../infra/commands/deploy/change-set.ts';
import { stackName } from '../../infra/settings/names.ts';
import { stages } from '../../infra/settings/stages.ts';
import { json, startAwsEndpoint, xml, xmlError } from '../support/aws-endpoint.ts';
import { replaceGithubCli } from '../support/github-cli.ts';

const table = 'AWS::DynamoDB::Table';
const api = 'AWS::ApiGateway::RestApi';
const domain = 'AWS::ApiGateway::DomainName';

const aws = await startAwsEndpoint();
const directory = await mkdtemp(join(tmpdir(), 'animal-store-deploy-'));
/** Puts a shell script in place of a program. It writes down its arguments first. */
const replaceProgram = (name: string, script = '') =>
  writeFile(join(directory, name), `#!/bin/bash\necho "$*" >>"$0.log"\n${script}`, { mode: 0o755 });
await replaceProgram('cdk');

describe('changes that lose data or the address of the API', () => {
  it.each([
    [table, 'Modify', 'True', true],
    [table, 'Modify', 'Conditional', true],
    [table, 'Remove', undefined, true],
    [table, 'Dynamic', undefined, true],
    [api, 'Modify', 'True', true],
    [api, 'Remove', undefined, true],
    [domain, 'Remove', undefined, true],
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

  const contextOf = (...indexes: string[]) =>
    JSON.stringify({
      Properties: { GlobalSecondaryIndexes: indexes.map((IndexName) => ({ IndexName })) },
    });
  it.each([
    ['loses an index', contextOf('byStatus', 'byName'), contextOf('byStatus'), ['byName']],
    ['loses its only index', contextOf('byStatus'), '{"Properties":{}}', ['byStatus']],
    ['gets an index', contextOf('byStatus'), contextOf('byStatus', 'byName'), []],
    ['keeps its indexes', contextOf('byStatus'), contextOf('byStatus'), []],
    [
      'may lose one, which the change does not say',
      undefined,
      undefined,
      ['an index, because CloudFormation names none'],
    ],
  ])('a table that %s', (_what, BeforeContext, AfterContext, removed) => {
    const ResourceChange = {
      Action: 'Modify' as const,
      ResourceType: table,
      LogicalResourceId: 'Pets',
      Replacement: 'False' as const,
      Details: [{ Target: { Name: 'GlobalSecondaryIndexes' } }],
      ...(BeforeContext !== undefined && { BeforeContext, AfterContext }),
    };
    const lines = removed.map((index) => `${table} Pets: Remove of ${index}.`);
    expect(lossesOf([{ ResourceChange }])).toEqual(lines);
  });

  const newVersion = { Action: 'Add', ResourceType: 'AWS::Lambda::Version' } as const;
  it.each([
    ['one index', ['byStatus', 'byName'], [], []],
    ['one index with new code', ['byStatus', 'byName'], [newVersion], ['byName']],
    ['two indexes', ['byStatus', 'byName', 'byAge'], [], ['byName', 'byAge']],
    ['new code alone', ['byStatus'], [newVersion], []],
  ])('that adds %s', (_what, indexes, others, mixed) => {
    const ResourceChange = {
      Action: 'Modify' as const,
      ResourceType: table,
      LogicalResourceId: 'Pets',
      Details: [{ Target: { Name: 'GlobalSecondaryIndexes' } }],
      BeforeContext: contextOf('byStatus'),
      AfterContext: contextOf(...indexes),
    };
    const changes = [ResourceChange, ...others].map((change) => ({ ResourceChange: change }));
    expect(mixedIndexesOf(changes)).toEqual(
      mixed.map((name) =>
        expect.stringMatching(`^Pets: Add of ${name} needs a release of its own`),
      ),
    );
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
      ListChangeSets: xml('ListChangeSets', { Summaries: changeSets }),
      DeleteChangeSet: xml('DeleteChangeSet', {}),
    };
    aws.requests.length = 0;
    const log = join(directory, 'cdk.log');
    await writeFile(log, '');
    const command = ['infra/commands/deploy/main.ts', ...words, '--context', 'emulator=true'];
    const PATH = `${directory}:${process.env['PATH']}`;
    const child = spawn(process.execPath, command, {
      cwd: projectDirectory,
      env: {
        ...aws.variables,
        AWS_REGION: 'eu-west-1',
        PATH,
        GITHUB_RUN_ID: process.env['GITHUB_RUN_ID'],
      },
    });
    const [err, out, [exitCode]] = await Promise.all([
      text(child.stderr),
      text(child.stdout),
      once(child, 'close'),
    ]);
    const cdk = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
    const deleted = aws.requests
      .filter(({ action }) => action === 'DeleteChangeSet')
      .map(({ body }) => new URLSearchParams(body).get('ChangeSetName'));
    return { err, out, exitCode, cdk, deleted };
  };
  const changeSets = [
    ['npm-run-deploy-refused', 'CREATE_COMPLETE', 'AVAILABLE'],
    ['npm-run-deploy-empty', 'FAILED', 'UNAVAILABLE'],
    ['npm-run-deploy-outdated', 'CREATE_COMPLETE', 'OBSOLETE'],
    ['npm-run-deploy-running', 'CREATE_COMPLETE', 'EXECUTE_IN_PROGRESS'],
    ['npm-run-deploy-begun', 'CREATE_IN_PROGRESS', 'UNAVAILABLE'],
    ['of-another-program', 'CREATE_COMPLETE', 'AVAILABLE'],
  ].map(([ChangeSetName, Status, ExecutionStatus]) => ({
    ChangeSetName,
    Status,
    ExecutionStatus,
  }));
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
    const parameters = new URLSearchParams(described?.body);
    expect(parameters.get('IncludePropertyValues')).toBe('true');
    const changeSet = parameters.get('ChangeSetName');
    const cdk = [
      `deploy AnimalStore-staging ${options.join(' ')} --context emulator=true --method prepare-change-set --change-set-name ${changeSet}`,
      `deploy AnimalStore-staging --app cdk.out --method execute-change-set --change-set-name ${changeSet} --require-approval never --outputs-file outputs.json`,
    ];
    expect(result).toEqual({ err: '', out: '', exitCode: 0, cdk, deleted: [] });
  });

  it('executes a change set that changes only outputs', async () => {
    const { exitCode, cdk } = await deploy([], 'AnimalStore-staging');
    expect([exitCode, cdk.length]).toEqual([0, 2]);
  });

  it('deploys a stage of its own by its name', async () => {
    const { err, exitCode, cdk } = await deploy([], '--stage', 'dev-alice');
    expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
    expect(cdk).toEqual([
      expect.stringMatching(
        /^deploy AnimalStore-dev-alice --context emulator=true --context stage=dev-alice --method prepare/,
      ),
      expect.stringMatching(
        /^deploy AnimalStore-dev-alice --app cdk.out --method execute-change-set /,
      ),
    ]);
  });

  it('deploys the stacks of a folder', async () => {
    const { cdk } = await deploy([], 'AnimalStore-staging', '--app', 'stacks');
    expect(cdk).toEqual([
      expect.stringMatching(
        /^deploy AnimalStore-staging --context emulator=true --app stacks --method prepare/,
      ),
      expect.stringMatching(
        /^deploy AnimalStore-staging --app stacks --method execute-change-set /,
      ),
    ]);
  });

  it.each([
    ['a change set that would lose a table', changeOf('True')],
    ['an empty change set', undefined],
  ])('deletes %s, and others of its own that were not executed', async (_what, changes) => {
    const { deleted } = await deploy(changes, 'AnimalStore-staging');
    expect(deleted).toEqual([
      'npm-run-deploy-refused',
      'npm-run-deploy-empty',
      'npm-run-deploy-outdated',
    ]);
  });

  describe('going back', () => {
    const run = (id: number, day: number, conclusion: string) => {
      const end = `2026-01-0${day}T00:00:00Z`;
      return { id, commit: `c${id}`, attempts: [{ conclusion, end }] };
    };
    const runs = [run(40, 4, 'success'), run(30, 3, 'failure'), run(20, 2, 'success')];
    const back = (before: string, ...words: string[]) =>
      deploy([], 'AnimalStore-prod', '--before', before, ...words);

    it('deploys the last good release before a run, without a canary, and records that', async () => {
      const calls = replaceGithubCli(directory, runs);
      const { err, out, exitCode, cdk } = await back('40', '--yes');
      expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
      expect(out).toContain('1. Deploy c20, which the run 20 released, without a canary\n');
      const folder = join(projectDirectory, '.build/releases/20');
      expect(calls()).toContain(`run download 20 --name release --dir ${folder}`);
      const fields = '-f state=failure -f context=prod -f description=Prod went back to c20';
      expect(calls().filter((call) => call.includes('/statuses/'))).toEqual([
        `api --silent repos/{owner}/{repo}/statuses/c40 ${fields}`,
        `api --silent repos/{owner}/{repo}/statuses/c30 ${fields}`,
      ]);
      expect(cdk).toHaveLength(2);
      for (const command of cdk) expect(command).toContain(` --app ${folder}/stacks/canary-off `);
    });

    it('records nothing if the release itself goes back, as its job shows that', async () => {
      const calls = replaceGithubCli(directory, runs.slice(1));
      vi.stubEnv('GITHUB_RUN_ID', '30');
      expect((await back('30', '--yes')).exitCode).toBe(0);
      expect(calls().join()).not.toContain('/statuses/');
      vi.unstubAllEnvs();
      expect((await back('30', '--yes')).exitCode).toBe(0);
      expect(calls().join()).toContain('/statuses/c30 ');
    });

    it('is not refused because of what the settings of this commit lack', async () => {
      replaceGithubCli(directory, runs);
      await back('40', '--yes');
      expect(aws.requests.map(({ action }) => action)).not.toContain('GET /account');
    });

    const words = (given: string) => given.split(' ');
    it.each([
      [
        'says how to build a release that could not be downloaded',
        words('AnimalStore-prod --before 40 --yes'),
        'could not be downloaded (see above). If it has expired, build it again: git switch --detach c20',
      ],
      [
        'fails if there is no earlier release',
        words('AnimalStore-prod --before 20 --yes'),
        'No good release reached prod before the run 20.',
      ],
      [
        'asks first',
        words('AnimalStore-prod --before 40'),
        'There is no terminal to ask: add --yes',
      ],
      [
        'refuses a stage whose releases are not recorded',
        words('AnimalStore-staging --before 40 --yes'),
        'Only AnimalStore-prod can go back',
      ],
    ])('%s, and deploys nothing', async (what, given, message) => {
      replaceGithubCli(directory, runs, { hasArtifacts: what === 'asks first' });
      const { err, exitCode, cdk } = await deploy([], ...given);
      expect(err).toContain(message);
      expect({ exitCode, cdk }).toEqual({ exitCode: 1, cdk: [] });
    });
  });

  const loss =
    'error: AWS::DynamoDB::Table Pets: Modify with Replacement True. Nothing was deployed.';
  const names = ['AnimalStore-account', 'AnimalStore-github', ...stages.map(stackName)].join(', ');
  it.each([
    ['that would lose a table', changeOf('True'), 'AnimalStore-staging', 1, loss, 1],
    ['if nothing differs', undefined, 'AnimalStore-account', 0, '', 1],
    ['of a stack that does not exist', [], 'AnimalStore-', 1, `error: Name a stack: ${names}.`, 0],
    [
      'for a repository that is not set',
      [],
      'AnimalStore-github',
      1,
      'error: githubRepository is not set: set it in infra/settings/github-repository.ts.',
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

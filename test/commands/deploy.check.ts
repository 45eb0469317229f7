import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { lossesOf, mixedIndexesOf } from '../../infra/commands/deploy/change-set.ts';
import { stackName } from '../../infra/settings/names.ts';
import { prod, stages } from '../../infra/settings/stages.ts';
import {
  type Answers,
  json,
  jsonError,
  startAwsEndpoint,
  xml,
  xmlError,
} from '../support/aws-endpoint.ts';

const account = `${prod.environment?.account}`;
const table = 'AWS::DynamoDB::Table';
const api = 'AWS::ApiGateway::RestApi';
const domain = 'AWS::ApiGateway::DomainName';

const aws = await startAwsEndpoint();
const directory = await mkdtemp(join(tmpdir(), 'animal-store-deploy-'));
// This replaces the CDK's CLI. It writes down its arguments.
await writeFile(join(directory, 'cdk'), '#!/bin/bash\necho "$*" >>"$0.log"\n', { mode: 0o755 });

/** Runs git in a repository that the deployments read instead of the project's. */
const git = (...words: string[]) => {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@store.test'];
  return execFileSync('git', [...author, ...words], { cwd: directory, encoding: 'utf8' }).trim();
};
git('init', '--quiet', '--initial-branch', 'main');
const commit = (name: string) => {
  git('commit', '--quiet', '--allow-empty', '--message', name);
  return git('rev-parse', 'HEAD');
};
const first = commit('first');
const head = commit('second');

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

  /** What CloudFormation says of a stack that has a commit. */
  const stackOf = (deployed: string, StackStatus = 'UPDATE_COMPLETE') =>
    xml('DescribeStacks', {
      Stacks: [
        {
          StackStatus,
          Parameters: [{ ParameterKey: 'Commit', ParameterValue: deployed }],
          Tags: [{ Key: 'stage', Value: 'prod' }],
        },
      ],
    });

  /**
   * Runs the command in an account that is ready, whose stack has a commit, and whose change set has these
   * changes. Returns the commands of the CDK that it ran.
   */
  const run = async (answers: Answers, Changes: object[] | undefined, ...words: string[]) => {
    const ExecutionStatus = Changes ? 'AVAILABLE' : 'UNAVAILABLE';
    const described = { ExecutionStatus, Status: 'CREATE_COMPLETE', Changes: Changes ?? [] };
    aws.answers = {
      'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
      'GET /account': json({ cloudwatchRoleArn: 'arn:aws:iam::000000000000:role/logs' }),
      GetCallerIdentity: xml('GetCallerIdentity', { Account: account }),
      ListStackResources: xmlError('ValidationError'),
      DescribeStacks: stackOf(first),
      DescribeChangeSet: xml('DescribeChangeSet', described),
      DeleteChangeSet: xml('DeleteChangeSet', {}),
      ...answers,
    };
    aws.requests.length = 0;
    const log = join(directory, 'cdk.log');
    await writeFile(log, '');
    const command = ['infra/commands/deploy/main.ts', ...words];
    const PATH = `${directory}:${process.env['PATH']}`;
    const child = spawn(process.execPath, command, {
      cwd: projectDirectory,
      env: {
        ...aws.variables,
        AWS_REGION: 'eu-west-1',
        PATH,
        GIT_DIR: join(directory, '.git'),
      },
    });
    const [err, out, [exitCode]] = await Promise.all([
      text(child.stderr),
      text(child.stdout),
      once(child, 'close'),
    ]);
    const cdk = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
    return { err, out, exitCode, cdk };
  };
  /** The parameters of each call of an action of CloudFormation. */
  const sent = (name: string) =>
    aws.requests
      .filter(({ action }) => action === name)
      .map(({ body }) => new URLSearchParams(body));
  const deploy = (changes: object[] | undefined, ...words: string[]) =>
    run({}, changes, ...words, '--emulator');
  const changeOf = (Replacement: string) => {
    const change = {
      Action: 'Modify',
      ResourceType: table,
      LogicalResourceId: 'Pets',
      Replacement,
    };
    return [{ ResourceChange: change }];
  };
  const ofCommit = `--no-previous-parameters --parameters Commit=${head}`;

  it('executes exactly the change set that it has checked', async () => {
    const result = await deploy(changeOf('False'), 'AnimalStore-staging', '--yes');
    const [parameters] = sent('DescribeChangeSet');
    expect(parameters?.get('IncludePropertyValues')).toBe('true');
    const changeSet = parameters?.get('ChangeSetName');
    const cdk = [
      `deploy AnimalStore-staging ${ofCommit} --context emulator=true --require-approval never --method prepare-change-set --change-set-name ${changeSet}`,
      `deploy AnimalStore-staging --app cdk.out --require-approval never --method execute-change-set --change-set-name ${changeSet}`,
    ];
    expect(result).toEqual({ err: '', out: '', exitCode: 0, cdk });
  });

  it('executes a change set that changes only outputs', async () => {
    const { exitCode, cdk } = await deploy([], 'AnimalStore-staging');
    expect([exitCode, cdk.length]).toEqual([0, 2]);
  });

  describe('with --stage', () => {
    const isLogged = (words: string) => readFileSync(join(directory, 'cdk.log')).includes(words);
    /** An account without bootstrap and role, which get there by the commands of the CDK. */
    const empty: Answers = {
      GetCallerIdentity: xml('GetCallerIdentity', { Account: '000000000000' }),
      'AmazonSSM.GetParameter': () =>
        isLogged('bootstrap ')
          ? json({ Parameter: { Value: '33' } })
          : jsonError('ParameterNotFound'),
      'GET /account': () =>
        json(isLogged('deploy AnimalStore-account ') ? { cloudwatchRoleArn: 'arn' } : {}),
      DescribeStacks: xml('DescribeStacks', {
        Stacks: [
          {
            Outputs: [
              { OutputKey: 'BaseAddress', OutputValue: 'https://a1.test/v1' },
              { OutputKey: 'KeysTableName', OutputValue: 'keys' },
              { OutputKey: 'LogGroupNames', OutputValue: 'log' },
            ],
          },
        ],
      }),
      'DynamoDB_20120810.Scan': json({ Items: [] }),
      'DynamoDB_20120810.PutItem': json({}),
    };
    const deployAlice = (answers: Answers, ...words: string[]) =>
      run({ ...empty, ...answers }, [], '--stage', 'dev-alice', ...words);

    it('first deploys what the account lacks, and ends with requests that have a key', async () => {
      const { err, out, exitCode, cdk } = await deployAlice({}, '--yes');
      expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
      const context = '--context stage=dev-alice';
      expect(cdk.map((command) => command.replace(/ --method.*/, ''))).toEqual([
        `bootstrap aws://000000000000/eu-west-1 ${context}`,
        `deploy AnimalStore-account --require-approval never ${context}`,
        `deploy AnimalStore-dev-alice ${ofCommit} ${context} --app cdk.out --require-approval never`,
        'deploy AnimalStore-dev-alice --app cdk.out --require-approval never',
      ]);
      expect(out).toMatch(
        /^Stage dev-alice, account 000000000000, region eu-west-1\n1\. Bootstrap/,
      );
      expect(out.match(/^curl .*\/v1\/pets.* -H "Authorization: Bearer pets_test_/gm)).toHaveLength(
        2,
      );
      expect(out).toContain('npm run destroy -- --stage dev-alice');
    });

    it('deploys only the stage if nothing else is missing, and issues no second key', async () => {
      const { 'AmazonSSM.GetParameter': _parameter, 'GET /account': _account, ...ready } = empty;
      const key = {
        ...{ keyId: { S: '0' }, hash: { B: Buffer.alloc(32).toString('base64') } },
        ...{ owner: { S: 'alice' }, lastFour: { S: 'abcd' }, createdAt: { S: '2026' } },
      };
      const Scan = { 'DynamoDB_20120810.Scan': json({ Items: [key] }) };
      const { out, cdk } = await run({ ...ready, ...Scan }, [], '--stage', 'dev-alice', '--yes');
      expect(cdk.map((command) => command.split(' ')[1])).toEqual(Array(2).fill(alice));
      expect(out).toContain('-H "Authorization: Bearer $API_KEY"');
    });

    const alice = 'AnimalStore-dev-alice';
    const prodAccount = `${prod.environment?.account}`;
    it.each<[what: string, answers: Answers, words: string[], message: string]>([
      ['unless somebody agrees', {}, [], 'There is no terminal to ask: add --yes'],
      [
        'in the account of a stage in production',
        { GetCallerIdentity: xml('GetCallerIdentity', { Account: prodAccount }) },
        ['--yes'],
        `The credentials belong to the account ${prodAccount} of prod: use others.`,
      ],
    ])('does nothing %s', async (_what, answers, words, message) => {
      const { err, exitCode, cdk } = await deployAlice(answers, ...words);
      expect({ err, exitCode, cdk }).toEqual({ err: `error: ${message}\n`, exitCode: 1, cdk: [] });
    });
  });

  it('deploys the stacks of a folder', async () => {
    const { cdk } = await deploy([], 'AnimalStore-staging', '--app', 'stacks');
    expect(cdk).toEqual([
      expect.stringContaining(
        `deploy AnimalStore-staging ${ofCommit} --context emulator=true --app stacks --method prepare`,
      ),
      expect.stringMatching(
        /^deploy AnimalStore-staging --app stacks .* --method execute-change-set /,
      ),
    ]);
  });

  it('deletes a change set that would lose a table', async () => {
    await deploy(changeOf('True'), 'AnimalStore-staging');
    const [described] = sent('DescribeChangeSet').map((body) => body.get('ChangeSetName'));
    expect(sent('DeleteChangeSet').map((body) => body.get('ChangeSetName'))).toEqual([described]);
  });

  describe('--record', () => {
    const place = (name: string) => ['$', `{AWS::${name}}`].join('');
    const template = `s3://bucket-${place('AccountId')}-${place('Region')}/hash.json`;
    const artifact = {
      type: 'aws:cloudformation:stack',
      environment: 'aws://unknown-account/unknown-region',
      properties: { templateFile: 'template.json', stackTemplateAssetObjectUrl: template },
    };
    const manifest = { version: '36.0.0', artifacts: { 'AnimalStore-prod': artifact } };
    const put = json({ Version: 1 });
    const record = async (deployed: string) => {
      await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest));
      const answers = { DescribeStacks: stackOf(deployed), 'AmazonSSM.PutParameter': put };
      return run(answers, [], 'AnimalStore-prod', '--app', directory, '--record');
    };

    it('records the commit and the address of the template of what is deployed', async () => {
      expect(await record(head)).toMatchObject({ err: '', exitCode: 0, cdk: [] });
      expect(valuesPut()).toEqual([
        {
          commit: head,
          template: `https://s3.eu-west-1.amazonaws.com/bucket-${account}-eu-west-1/hash.json`,
        },
      ]);
    });

    it('records nothing if another commit was deployed meanwhile', async () => {
      const { err, exitCode } = await record(first);
      expect(err).toContain(`AnimalStore-prod has ${first}, which is not checked out`);
      expect({ exitCode, put: valuesPut() }).toEqual({ exitCode: 1, put: [] });
    });
  });

  /** The values that were given to the parameter of prod's releases. */
  const valuesPut = () =>
    aws.requests
      .filter(({ action }) => action === 'AmazonSSM.PutParameter')
      .map(({ body }) => {
        const { Value, ...put } = JSON.parse(body);
        const Name = '/animal-store/prod/release';
        expect(put).toEqual({ Name, Type: 'String', Overwrite: true });
        return JSON.parse(Value);
      });

  describe('--back', () => {
    const release = (name: string) => ({ commit: name, template: `https://bucket/${name}.json` });
    const historyOf = (names: string) =>
      json({
        Parameters: names.split(' ').map((name) => ({ Value: JSON.stringify(release(name)) })),
      });
    const credentials = { AccessKeyId: 'role', SecretAccessKey: 'role', SessionToken: 'role' };
    const answersTo = (deployed: string, history: string): Answers => ({
      DescribeStacks: stackOf(deployed),
      'AmazonSSM.GetParameterHistory': historyOf(history),
      'AmazonSSM.PutParameter': json({ Version: 1 }),
      AssumeRole: xml('AssumeRole', { Credentials: credentials }),
      CreateChangeSet: xml('CreateChangeSet', { Id: 'id' }),
      ExecuteChangeSet: xml('ExecuteChangeSet', {}),
    });
    const back = (answers: Answers, changes: object[], ...words: string[]) =>
      run(answers, changes, 'AnimalStore-prod', '--back', ...words);

    it('deploys a template again, all at once, with the tags of the stack and by the role of the CDK', async () => {
      const answers = answersTo('three', 'one two three');
      const { err, out, exitCode, cdk } = await back(answers, changeOf('False'), '--yes');
      expect({ err, exitCode, cdk }).toEqual({ err: '', exitCode: 0, cdk: [] });
      expect(out).toBe(
        `Stage prod, account ${account}, region eu-west-1
1. Leave three, and deploy two, all at once after its check
2. Modify ${table} Pets
AnimalStore-prod has two.
`,
      );
      const [created] = sent('CreateChangeSet');
      expect(Object.fromEntries(created ?? [])).toMatchObject({
        StackName: 'AnimalStore-prod',
        TemplateURL: 'https://bucket/two.json',
        'Parameters.member.1.ParameterKey': 'Commit',
        'Parameters.member.1.ParameterValue': 'two',
        'Parameters.member.2.ParameterKey': 'Traffic',
        'Parameters.member.2.ParameterValue': 'all-at-once',
        'Tags.member.1.Key': 'stage',
        'Tags.member.1.Value': 'prod',
        'Capabilities.member.1': 'CAPABILITY_IAM',
      });
      // CDK's bootstrap grants these to its deploy role, and test/infra/permissions.test.ts the others.
      const callsBy = (caller: string) =>
        new Set(
          aws.requests.flatMap(({ action, accessKey }) => (accessKey === caller ? action : [])),
        );
      expect(callsBy('role')).toEqual(new Set(['CreateChangeSet', 'ExecuteChangeSet']));
      expect(callsBy('test')).toEqual(
        new Set([
          'GetCallerIdentity',
          'DescribeStacks',
          'AmazonSSM.GetParameterHistory',
          'AssumeRole',
          'DescribeChangeSet',
          'AmazonSSM.PutParameter',
        ]),
      );
      const [role] = sent('AssumeRole').map((body) => body.get('RoleArn'));
      expect(role).toBe(
        `arn:aws:iam::${account}:role/cdk-hnb659fds-deploy-role-${account}-eu-west-1`,
      );
      const [executed] = sent('ExecuteChangeSet');
      expect(executed?.get('ChangeSetName')).toBe(created?.get('ChangeSetName'));
    });

    it.each([
      ['the newest, if the stack has none of them', 'bad', 'one two', 'two'],
      ['the one before', 'three', 'one two three', 'two'],
      ['the one before, after a way back', 'two', 'one two three two', 'one'],
      ['none from which the stage went back', 'four', 'one two three two four', 'two'],
      ['the same, if it was recorded twice', 'two', 'one two two', 'one'],
    ])('goes to the good release: %s', async (_which, deployed, history, expected) => {
      expect(await back(answersTo(deployed, history), [], '--yes')).toMatchObject({ exitCode: 0 });
      expect(valuesPut()).toEqual([release(expected)]);
    });

    const two = answersTo('two', 'one two');
    let descriptions = 0;
    it.each<[string, Answers, object[], string[], string]>([
      [
        'without an earlier good release',
        answersTo('one', 'one two one'),
        [],
        ['--yes'],
        'prod has no good release before one.',
      ],
      [
        'without any good release',
        { ...two, 'AmazonSSM.GetParameterHistory': jsonError('ParameterNotFound') },
        [],
        ['--yes'],
        'prod has no good release before two.',
      ],
      [
        'if the stack has left the commit already',
        two,
        [],
        ['--leave', 'bad', '--yes'],
        'AnimalStore-prod has two, and not bad.',
      ],
      [
        'while the stack is updated, and says how to stop that',
        { ...two, DescribeStacks: stackOf('two', 'UPDATE_IN_PROGRESS') },
        [],
        ['--yes'],
        'run: aws cloudformation cancel-update-stack --stack-name AnimalStore-prod',
      ],
      [
        'that would lose a table',
        two,
        changeOf('True'),
        ['--yes'],
        'error: AWS::DynamoDB::Table Pets: Modify with Replacement True.',
      ],
      [
        'if another deployment came between',
        {
          ...two,
          DescribeStacks: () => {
            descriptions += 1;
            return stackOf(descriptions === 1 ? 'two' : 'hotfix');
          },
        },
        [],
        ['--yes'],
        'AnimalStore-prod was deployed just now.',
      ],
      ['without asking', two, [], [], 'There is no terminal to ask: add --yes'],
    ])('changes nothing %s', async (_why, answers, changes, words, message) => {
      const { err, exitCode } = await back(answers, changes, ...words);
      expect(err).toContain(message);
      expect({ exitCode, put: valuesPut() }).toEqual({ exitCode: 1, put: [] });
      expect(sent('ExecuteChangeSet')).toEqual([]);
    });
  });

  const loss =
    'error: AWS::DynamoDB::Table Pets: Modify with Replacement True.\nerror: Nothing was deployed.';
  const names = stages.map(stackName).join(', ');
  it.each([
    ['that would lose a table', changeOf('True'), 'AnimalStore-staging', 1, loss, 1],
    ['if nothing differs', undefined, 'AnimalStore-staging', 0, '', 1],
    ['of a stack that does not exist', [], 'AnimalStore-', 1, `error: Name a stack: ${names}.`, 0],
    ['with an option that it does not know', [], '--all', 1, "error: unknown option '--all'", 0],
  ])('executes nothing %s', async (_what, changes, id, status, message, prepared) => {
    const { err, exitCode, cdk } = await deploy(changes, id);
    expect(err).toContain(message);
    expect([exitCode, cdk.length]).toEqual([status, prepared]);
    expect(cdk.join()).not.toContain('execute-change-set');
  });
});

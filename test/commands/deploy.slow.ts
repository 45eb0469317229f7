import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { destructiveChangesIn, mixedIndexesOf } from '../../infra/commands/deploy/change-set.ts';
import { stackName } from '../../infra/settings/names.ts';
import { prod, stages } from '../../infra/settings/stages.ts';
import {
  type CannedResponse,
  json,
  jsonError,
  noStack,
  type Responses,
  startAwsEndpoint,
  xml,
} from '../support/aws-endpoint.ts';
import { addFakeCdk, templateFile } from '../support/fake-cdk.ts';

const account = prod.environment?.account ?? '777777777777';
const table = 'AWS::DynamoDB::Table';
const api = 'AWS::ApiGateway::RestApi';
const domain = 'AWS::ApiGateway::DomainName';

const aws = await startAwsEndpoint();
const directory = await mkdtemp(join(tmpdir(), 'animal-store-deploy-'));
const cdkLog = await addFakeCdk(directory);

/** Runs git in a repository that the deployments read instead of the project's. */
const git = (...words: string[]) => {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@store.test'];
  return execFileSync('git', [...author, ...words], { cwd: directory, encoding: 'utf8' }).trim();
};
git('init', '--quiet', '--initial-branch', 'main');
/** The files that are checked out: none. */
const workTree = join(directory, 'work-tree');
await mkdir(workTree);
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
    expect(destructiveChangesIn([{ ResourceChange: change }])).toEqual(isLoss ? [line] : []);
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
    expect(destructiveChangesIn([{ ResourceChange }])).toEqual(lines);
  });

  const newVersion = { Action: 'Add', ResourceType: 'AWS::Lambda::Version' } as const;
  it.each([
    ['one index', ['byStatus', 'byName'], [], []],
    ['one index with new code', ['byStatus', 'byName'], [newVersion], ['byName']],
    ['two indexes', ['byStatus', 'byName', 'byAge'], [], ['byName', 'byAge']],
    ['only new code', ['byStatus'], [newVersion], []],
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
  const stackOf = (deployed: string, StackStatus = 'UPDATE_COMPLETE', template = templateFile) =>
    xml('DescribeStacks', {
      Stacks: [
        {
          StackStatus,
          Parameters: [
            { ParameterKey: 'Commit', ParameterValue: deployed },
            { ParameterKey: 'Template', ParameterValue: template },
          ],
          Tags: [{ Key: 'stage', Value: 'prod' }],
        },
      ],
    });

  /**
   * Runs the command in an account that is ready, whose stack has a commit, and whose change set has these
   * changes. Returns the commands of the CDK that it ran.
   */
  let deployment: ChildProcess | undefined;
  const run = async (responses: Responses, Changes: object[] | undefined, ...words: string[]) => {
    const ExecutionStatus = Changes ? 'AVAILABLE' : 'UNAVAILABLE';
    const described = { ExecutionStatus, Status: 'CREATE_COMPLETE', Changes: Changes ?? [] };
    aws.responses = {
      'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
      'GET /account': json({ cloudwatchRoleArn: 'arn:aws:iam::000000000000:role/logs' }),
      GetCallerIdentity: xml('GetCallerIdentity', { Account: account }),
      ListStackResources: noStack,
      DescribeStacks: stackOf(first),
      DescribeChangeSet: xml('DescribeChangeSet', described),
      DeleteChangeSet: xml('DeleteChangeSet', {}),
      ...responses,
    };
    aws.requests.length = 0;
    await writeFile(cdkLog, '');
    const command = ['infra/commands/deploy/main.ts', ...words];
    const PATH = `${directory}:${process.env['PATH']}`;
    const child = spawn(process.execPath, command, {
      cwd: projectDirectory,
      env: {
        ...aws.variables,
        AWS_REGION: 'eu-west-1',
        PATH,
        GIT_DIR: join(directory, '.git'),
        GIT_WORK_TREE: workTree,
      },
    });
    deployment = child;
    const [err, out, [exitCode]] = await Promise.all([
      text(child.stderr),
      text(child.stdout),
      once(child, 'close'),
    ]);
    const cdk = (await readFile(cdkLog, 'utf8')).split('\n').filter(Boolean);
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
  const ofRelease = `--no-previous-parameters --parameters Commit=${head} --parameters Template=${templateFile}`;
  /** Replaces the names of the folder of the stacks and of the change set, which differ each time. */
  const named = (commands: readonly string[]) =>
    commands.map((command) =>
      command
        .replace(/--(app|output) \S*\/animal-store-\S+/, '--$1 FOLDER')
        .replace(/--change-set-name \S+/, '--change-set-name NAME'),
    );

  it('executes exactly the change set that it has checked', async () => {
    const result = await deploy(changeOf('False'), 'AnimalStore-staging', '--yes');
    const [parameters] = sent('DescribeChangeSet');
    expect(parameters?.get('IncludePropertyValues')).toBe('true');
    const changeSet = parameters?.get('ChangeSetName');
    for (const command of result.cdk.slice(1))
      expect(command).toContain(`--change-set-name ${changeSet}`);
    expect({ ...result, cdk: named(result.cdk) }).toEqual({
      ...{ err: '', out: '', exitCode: 0 },
      cdk: [
        'synth AnimalStore-staging --quiet --context emulator=true --output FOLDER',
        `deploy AnimalStore-staging --app FOLDER ${ofRelease} --require-approval never --method prepare-change-set --change-set-name NAME`,
        'deploy AnimalStore-staging --app FOLDER --require-approval never --method execute-change-set --change-set-name NAME',
      ],
    });
  });

  it('executes a change set that changes only outputs', async () => {
    const { exitCode, cdk } = await deploy([], 'AnimalStore-staging');
    expect([exitCode, cdk.length]).toEqual([0, 3]);
  });

  /** Whether the CDK has run a command with these words. */
  const isLogged = (words: string) => readFileSync(cdkLog).includes(words);

  describe('with --stage', () => {
    const logOfAlice = xml('ListStackResources', {
      StackResourceSummaries: [
        {
          ResourceType: 'AWS::Logs::LogGroup',
          PhysicalResourceId: 'AnimalStore-dev-alice-Log',
        },
      ],
    });
    /** An account without bootstrap and role, which get there by the commands of the CDK. */
    const empty: Responses = {
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
            ],
          },
        ],
      }),
      ListStackResources: logOfAlice,
      'DynamoDB_20120810.Scan': json({ Items: [] }),
      'DynamoDB_20120810.PutItem': json({}),
    };
    const deployAlice = (responses: Responses, ...words: string[]) =>
      run({ ...empty, ...responses }, [], '--stage', 'dev-alice', ...words);

    it('first deploys what the account lacks, and ends with requests that have a key', async () => {
      const { err, out, exitCode, cdk } = await deployAlice({}, '--yes');
      expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
      expect(named(cdk)).toEqual([
        'synth AnimalStore-dev-alice --quiet --context stage=dev-alice --output FOLDER',
        'bootstrap aws://000000000000/eu-west-1 --context stage=dev-alice',
        'deploy AnimalStore-account --app FOLDER --require-approval never',
        `deploy AnimalStore-dev-alice --app FOLDER ${ofRelease} --require-approval never --method prepare-change-set --change-set-name NAME`,
        'deploy AnimalStore-dev-alice --app FOLDER --require-approval never --method execute-change-set --change-set-name NAME',
      ]);
      expect(out).toMatch(
        /^Stage dev-alice, account 000000000000, region eu-west-1\n1\. Bootstrap/,
      );
      expect(out.match(/^curl .*\/v1\/pets.* -H "Authorization: Bearer pets_test_/gm)).toHaveLength(
        2,
      );
      expect(out).toContain('aws logs tail AnimalStore-dev-alice-Log --follow');
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
      expect(cdk.map((command) => command.split(' ')[1])).toEqual([alice, alice, alice]);
      expect(out).toContain('-H "Authorization: Bearer $API_KEY"');
    });

    const alice = 'AnimalStore-dev-alice';
    it('does nothing unless somebody agrees', async () => {
      const { err, exitCode, cdk } = await deployAlice({});
      expect({ err, exitCode, cdk }).toEqual({
        err: 'error: There is no terminal to ask: add --yes\n',
        exitCode: 1,
        cdk: [],
      });
    });
  });

  it('ends the first deployment of a permanent stage with what its operator has to do', async () => {
    const topic = {
      ResourceType: 'AWS::SNS::Topic',
      LogicalResourceId: 'MonitoringTopic',
      PhysicalResourceId: 'topic',
    };
    const subscription = { Endpoint: 'on-call@store.test', SubscriptionArn: 'PendingConfirmation' };
    const responses: Responses = {
      GetCallerIdentity: xml('GetCallerIdentity', { Account: '000000000000' }),
      ListStackResources: () =>
        isLogged('execute-change-set')
          ? xml('ListStackResources', { StackResourceSummaries: [topic] })
          : noStack,
      ListSubscriptionsByTopic: xml('ListSubscriptionsByTopic', { Subscriptions: [subscription] }),
      'AmazonSSM.GetParameter': (body) =>
        body.includes('probe-api-key')
          ? jsonError('ParameterNotFound')
          : json({ Parameter: { Value: '33' } }),
    };
    const { err, out } = await run(responses, [], '--stage', 'staging', '--emulator', '--yes');
    expect(err).toBe('');
    const [, left = ''] = out.split('Before the next deployment:\n');
    expect(left.split('\n')).toEqual([
      expect.stringContaining('on-call@store.test has not confirmed'),
      expect.stringContaining('npm run keys -- issue --for-probe --stage staging'),
      '',
    ]);
  });

  it('deploys the stacks of a folder', async () => {
    const { cdk } = await deploy([], 'AnimalStore-staging', '--app', directory);
    const start = `deploy AnimalStore-staging --app ${directory}`;
    expect(cdk).toEqual([
      expect.stringContaining(`${start} ${ofRelease} --method prepare-change-set`),
      expect.stringMatching(`^${start} .* --method execute-change-set`),
    ]);
  });

  it('deletes a change set that would lose a table', async () => {
    await deploy(changeOf('True'), 'AnimalStore-staging');
    const [described] = sent('DescribeChangeSet').map((body) => body.get('ChangeSetName'));
    expect(sent('DeleteChangeSet').map((body) => body.get('ChangeSetName'))).toEqual([described]);
  });

  it('deploys nothing if a file changes before it is synthesised', async () => {
    const untracked = join(workTree, 'meanwhile.ts');
    const responses = {
      'AmazonSSM.GetParameter': () => {
        writeFileSync(untracked, '');
        return json({ Parameter: { Value: '33' } });
      },
    };
    const words = ['AnimalStore-staging', '--emulator'];
    const { err, exitCode, cdk } = await run(responses, [], ...words);
    await rm(untracked);
    expect(err).toMatch(/^error: .*again/);
    expect({ exitCode, cdk: cdk.filter((each) => each.startsWith('deploy')) }).toEqual({
      exitCode: 1,
      cdk: [],
    });
  });

  describe('with uncommitted files', () => {
    const untracked = join(workTree, 'new.ts');
    beforeAll(() => writeFile(untracked, ''));
    afterAll(() => rm(untracked));

    it.each([
      ['AnimalStore-staging'],
      ['AnimalStore-staging', '--app', directory],
      ['--stage', 'staging', '--yes'],
    ])('refuses a permanent stage: %s %s %s', async (...words) => {
      const { err, exitCode, cdk } = await run({}, [], ...words);
      expect(err).toMatch(/^error: staging .*commit or stash/);
      expect({ exitCode, cdk }).toEqual({ exitCode: 1, cdk: [] });
    });

    it('marks the commit on an emulator', async () => {
      const { cdk } = await deploy([], 'AnimalStore-staging');
      expect(cdk[1]).toContain(`--parameters Commit=${head}-dirty --parameters Template=`);
    });
  });

  it('deploys a destructive change when it is told so, and prints it', async () => {
    const { out, cdk } = await deploy(changeOf('True'), 'AnimalStore-staging', '--destructive');
    expect(out).toContain(`${table} Pets: Modify with Replacement True`);
    expect(cdk).toHaveLength(3);
  });

  it('undoes drift when it is told so', async () => {
    const { cdk } = await deploy([], 'AnimalStore-staging', '--revert-drift');
    expect(cdk.map((command) => command.includes('--revert-drift'))).toEqual([false, true, false]);
  });

  it('says at Ctrl-C that AWS may continue', async () => {
    const { err, exitCode } = await run(
      {
        DescribeChangeSet: () => {
          process.kill(Number(deployment?.pid), 'SIGINT');
          return xml('DescribeChangeSet', { ExecutionStatus: 'AVAILABLE' });
        },
      },
      [],
      'AnimalStore-staging',
      '--emulator',
    );
    expect({ err, exitCode }).toEqual({
      err: 'error: Interrupted. AWS may continue. Run the same command again.\n',
      exitCode: 130,
    });
  });

  it('--show prints the status, the address and the commit of a stage, and changes nothing', async () => {
    const Outputs = [
      { OutputKey: 'BaseAddress', OutputValue: 'https://a1.test/v1' },
      { OutputKey: 'KeysTableName', OutputValue: 'keys' },
    ];
    const Parameters = [{ ParameterKey: 'Commit', ParameterValue: head }];
    const StackStatus = 'UPDATE_IN_PROGRESS';
    const responses = {
      DescribeStacks: xml('DescribeStacks', { Stacks: [{ StackStatus, Outputs, Parameters }] }),
    };
    const { err, out, cdk } = await run(responses, [], 'AnimalStore-prod', '--show');
    expect({ err, cdk }).toEqual({ err: '', cdk: [] });
    expect(out).toContain('Base address  http://a1.execute-api.localhost');
    expect(out).toMatch(/^Status +UPDATE_IN_PROGRESS$/m);
    expect(out).toContain(`Commit        ${head}\n`);
  });

  describe('--record', () => {
    const record = (stack: CannedResponse, ...words: string[]) => {
      const responses = {
        DescribeStacks: stack,
        'AmazonSSM.PutParameter': json({ Version: 1 }),
      };
      return run(responses, [], 'AnimalStore-prod', '--record', ...words);
    };

    it('records the commit and the template that the stack has, and prints them', async () => {
      const { err, out, exitCode, cdk } = await record(stackOf(head), '--if-commit', head);
      expect({ err, exitCode, cdk }).toEqual({ err: '', exitCode: 0, cdk: [] });
      expect(valuesPut()).toEqual([{ commit: head, template: templateFile }]);
      expect(out).toContain(`${head}, with the template ${templateFile}`);
    });

    it.each([
      ['another commit than the expected one', stackOf(first), `has ${first}, and not ${head}.`],
      ['no commit', stackOf('unknown'), 'has the commit unknown and the template'],
      ['changes that no commit has', stackOf(`${head}-dirty`), `the commit ${head}-dirty`],
      ['no template', stackOf(head, 'UPDATE_COMPLETE', 'unknown'), 'the template unknown'],
      ['a release that is being deployed', stackOf(head, 'UPDATE_IN_PROGRESS'), 'Wait for its end'],
      ['parts of two releases', stackOf(head, 'UPDATE_ROLLBACK_FAILED'), 'See "canary-errors"'],
    ])('records nothing of a stack with %s', async (what, stack, message) => {
      const words = what.startsWith('another') ? ['--if-commit', head] : [];
      const { err, exitCode } = await record(stack, ...words);
      expect(err).toContain(message);
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
    /** The hash that stands for a name: as a commit, and as the file of its template. */
    const hash = (name: string) => createHash('sha256').update(name).digest('hex');
    const release = (name: string) => ({ commit: hash(name), template: `${hash(name)}.json` });
    /** A history of releases, by their names, and of other values. */
    const historyOf = (...values: string[]) =>
      json({
        Parameters: values.map((value, at) => ({
          Version: at + 1,
          Value: /^(one|two|three|four)$/.test(value) ? JSON.stringify(release(value)) : value,
        })),
      });
    const credentials = { AccessKeyId: 'role', SecretAccessKey: 'role', SessionToken: 'role' };
    /** The commit that a change set was executed for. */
    const executedCommit = () =>
      sent('ExecuteChangeSet').length > 0
        ? sent('CreateChangeSet')[0]?.get('Parameters.member.1.ParameterValue')
        : undefined;
    const responsesTo = (deployed: string, history: string): Responses => ({
      DescribeStacks: () => stackOf(executedCommit() ?? hash(deployed)),
      'AmazonSSM.GetParameterHistory': historyOf(...history.split(' ')),
      'AmazonSSM.PutParameter': json({ Version: 1 }),
      AssumeRole: xml('AssumeRole', { Credentials: credentials }),
      CreateChangeSet: xml('CreateChangeSet', { Id: 'id' }),
      ExecuteChangeSet: xml('ExecuteChangeSet', {}),
    });
    const back = (responses: Responses, changes: object[], ...words: string[]) =>
      run(responses, changes, 'AnimalStore-prod', '--back', ...words);

    it('says at Ctrl-C how to see whether the stage is back, because a repetition would go back further', async () => {
      const responses = {
        ...responsesTo('three', 'one two three'),
        ExecuteChangeSet: () => {
          process.kill(Number(deployment?.pid), 'SIGINT');
          return xml('ExecuteChangeSet', {});
        },
      };
      const { err, exitCode } = await back(responses, [], '--yes');
      expect(exitCode).toBe(130);
      expect(err).toContain('--show');
    });

    it('deploys a template again, all at once, with the tags of the stack and by the role of the CDK', async () => {
      const responses = responsesTo('three', 'one two three');
      const { err, out, exitCode, cdk } = await back(responses, changeOf('False'), '--yes');
      expect({ err, exitCode, cdk }).toEqual({ err: '', exitCode: 0, cdk: [] });
      expect(out).toContain(`prod, account ${account}, region eu-west-1`);
      expect(out).toMatch(new RegExp(`${hash('three')}.* deploy ${hash('two')}`));
      expect(out).toContain(`Modify ${table} Pets`);
      expect(out).toContain(`AnimalStore-prod has ${hash('two')}`);
      const [created] = sent('CreateChangeSet');
      expect(Object.fromEntries(created ?? [])).toMatchObject({
        StackName: 'AnimalStore-prod',
        TemplateURL: `https://s3.eu-west-1.amazonaws.com/cdk-hnb659fds-assets-${account}-eu-west-1/${hash('two')}.json`,
        'Parameters.member.1.ParameterKey': 'Commit',
        'Parameters.member.1.ParameterValue': hash('two'),
        'Parameters.member.2.ParameterKey': 'Template',
        'Parameters.member.2.ParameterValue': `${hash('two')}.json`,
        'Parameters.member.3.ParameterKey': 'Traffic',
        'Parameters.member.3.ParameterValue': 'all-at-once',
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
      ['the one before, after going back', 'two', 'one two three two', 'one'],
      ['none from which the stage went back', 'four', 'one two three two four', 'two'],
      ['the same, if it was recorded twice', 'two', 'one two two', 'one'],
    ])('goes to the good release: %s', async (_which, deployed, history, expected) => {
      expect(await back(responsesTo(deployed, history), [], '--yes')).toMatchObject({
        exitCode: 0,
      });
      expect(valuesPut()).toEqual([release(expected)]);
    });

    it('sorts the history by its versions', async () => {
      const history = { ...JSON.parse(historyOf('one', 'two', 'three')[1]) };
      history.Parameters.reverse();
      const responses = {
        ...responsesTo('three', ''),
        'AmazonSSM.GetParameterHistory': json(history),
      };
      expect(await back(responses, [], '--yes')).toMatchObject({ exitCode: 0 });
      expect(valuesPut()).toEqual([release('two')]);
    });

    const evil = 'https://s3.eu-west-1.amazonaws.com/attacker-bucket/evil.json';
    it.each([
      JSON.stringify({ commit: hash('evil'), template: evil }),
      JSON.stringify({ commit: hash('evil'), template: `../attacker-bucket/${hash('evil')}.json` }),
      JSON.stringify({ commit: hash('evil'), template: `${hash('evil')}.json?x` }),
      JSON.stringify({ commit: '--output=file', template: `${hash('evil')}.json` }),
      JSON.stringify({ commit: 1, template: `${hash('evil')}.json` }),
      'abc',
      '{}',
      '[]',
      'null',
    ])('skips what is not a release, and says so: %s', async (value) => {
      const responses = {
        ...responsesTo('three', ''),
        'AmazonSSM.GetParameterHistory': historyOf('one', `${value}`, 'three'),
      };
      const { err, exitCode } = await back(responses, [], '--yes');
      expect(err).toMatch(/version 2 .*\/animal-store\/prod\/release/);
      expect(err).not.toContain(`${value}`);
      expect({ exitCode, put: valuesPut() }).toEqual({ exitCode: 0, put: [release('one')] });
      expect(sent('CreateChangeSet').map((body) => body.get('TemplateURL'))).toEqual([
        expect.stringContaining(`/cdk-hnb659fds-assets-${account}-eu-west-1/${hash('one')}.json`),
      ]);
    });

    it('says that the stack has a release only if it has', async () => {
      const responses = { ...responsesTo('two', 'one two'), DescribeStacks: stackOf(hash('two')) };
      const { err, exitCode } = await back(responses, [], '--yes');
      expect(err).toContain(`AnimalStore-prod still has ${hash('two')}`);
      expect(exitCode).toBe(1);
    });

    it('deletes a change set that fails, and prints the reason of CloudFormation', async () => {
      const StatusReason = 'Parameters: [Traffic] do not exist in the template';
      const responses = {
        ...responsesTo('two', 'one two'),
        DescribeChangeSet: xml('DescribeChangeSet', { Status: 'FAILED', StatusReason }),
      };
      const { err, exitCode } = await back(responses, [], '--yes');
      expect(err).toMatch(new RegExp(`^error: .*${RegExp.escape(StatusReason)}\n$`));
      expect({ exitCode, put: valuesPut() }).toEqual({ exitCode: 1, put: [] });
      expect(sent('DeleteChangeSet').map((body) => body.get('ChangeSetName'))).toEqual(
        sent('CreateChangeSet').map((body) => body.get('ChangeSetName')),
      );
    });

    it('deletes the change set that nobody agreed to', async () => {
      await back(responsesTo('two', 'one two'), []);
      expect(sent('DeleteChangeSet')).toHaveLength(1);
    });

    const two = responsesTo('two', 'one two');
    let descriptions = 0;
    it.each<[string, Responses, object[], string[], string]>([
      [
        'without an earlier good release',
        responsesTo('one', 'one two one'),
        [],
        ['--yes'],
        `prod has no good release before ${hash('one')}.`,
      ],
      [
        'without any good release',
        { ...two, 'AmazonSSM.GetParameterHistory': jsonError('ParameterNotFound') },
        [],
        ['--yes'],
        `prod has no good release before ${hash('two')}.`,
      ],
      [
        'if the stack has left the commit already',
        two,
        [],
        ['--if-commit', hash('bad'), '--yes'],
        `AnimalStore-prod has ${hash('two')}, and not ${hash('bad')}.`,
      ],
      [
        'while the stack is updated, and says how to stop that',
        { ...two, DescribeStacks: stackOf(hash('two'), 'UPDATE_IN_PROGRESS') },
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
            return stackOf(hash(descriptions === 1 ? 'two' : 'hotfix'));
          },
        },
        [],
        ['--yes'],
        'AnimalStore-prod was deployed just now.',
      ],
      ['without asking', two, [], [], 'There is no terminal to ask: add --yes'],
    ])('changes nothing %s', async (_why, responses, changes, words, message) => {
      const { err, exitCode } = await back(responses, changes, ...words);
      expect(err).toContain(message);
      expect({ exitCode, put: valuesPut() }).toEqual({ exitCode: 1, put: [] });
      expect(sent('ExecuteChangeSet')).toEqual([]);
    });
  });

  const loss =
    'error: AWS::DynamoDB::Table Pets: Modify with Replacement True.\nerror: Nothing was deployed.';
  const nameOne = `error: Name a personal stage, such as npm run deploy -- --stage dev-alice, or the stack of a permanent one: ${stages.map(stackName).join(', ')}.`;
  it.each([
    ['that would lose a table', changeOf('True'), 'AnimalStore-staging', 1, loss, 2],
    ['if nothing differs', undefined, 'AnimalStore-staging', 0, '', 2],
    ['of a stack that does not exist', [], 'AnimalStore-', 1, nameOne, 0],
    ['of a personal stage without --stage', [], 'dev-alice', 1, nameOne, 0],
    ['with an option that it does not know', [], '--all', 1, "error: unknown option '--all'", 0],
  ])('executes nothing %s', async (_what, changes, id, status, message, prepared) => {
    const { err, exitCode, cdk } = await deploy(changes, id);
    expect(err).toContain(message);
    expect([exitCode, cdk.length]).toEqual([status, prepared]);
    expect(cdk.join()).not.toContain('execute-change-set');
  });

  it.each([
    ['--back', '--record'],
    ['--back', '--show'],
    ['--record', '--show'],
    ['--back', '--destructive'],
    ['--record', '--app', 'folder'],
    ['--show', '--traffic', 'canary'],
  ])('does neither of %s and %s', async (one, ...other) => {
    const { err, exitCode } = await deploy([], 'AnimalStore-prod', one, ...other, '--yes');
    expect(err).toContain(`option '${one}' cannot be used with option '${other[0]}`);
    expect({ exitCode, calls: aws.requests }).toEqual({ exitCode: 1, calls: [] });
  });

  it('deploys neither of two stages', async () => {
    const { err, exitCode, cdk } = await deploy([], 'AnimalStore-prod', '--stage', 'dev-alice');
    expect(err).toContain('error: Name one stage');
    expect({ exitCode, cdk }).toEqual({ exitCode: 1, cdk: [] });
  });
});

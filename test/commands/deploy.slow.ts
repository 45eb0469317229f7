import { rmSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { json, jsonError, type Responses, startAwsEndpoint, xml } from '../support/aws-endpoint.ts';
import { copyProject } from '../support/project-copy.ts';

const table = 'AWS::DynamoDB::Table';

const aws = await startAwsEndpoint();
const project = await copyProject();
const accounts = { staging: '777777777777', prod: '888888888888' };
await project.set('staging', accounts.staging);
await project.set('prod', accounts.prod);
const first = project.commit('first');
const head = project.commit('second');
afterAll(async () => {
  aws.stop();
  await project.remove();
});

const caller = (Account: string) => ({ GetCallerIdentity: xml('GetCallerIdentity', { Account }) });
/** A deployed stack. */
const stackWith = (
  Commit: string,
  { PreviousCommit = 'unknown', StackStatus = 'UPDATE_COMPLETE' } = {},
) =>
  xml('DescribeStacks', {
    Stacks: [
      {
        StackStatus,
        Parameters: Object.entries({ Commit, PreviousCommit }).map(
          ([ParameterKey, ParameterValue]) => ({ ParameterKey, ParameterValue }),
        ),
        Outputs: [
          { OutputKey: 'BaseAddress', OutputValue: 'https://a1.test/v1' },
          { OutputKey: 'KeysTableName', OutputValue: 'keys' },
        ],
      },
    ],
  });
const withChanges = (...Changes: object[]) => ({
  DescribeChangeSet: xml('DescribeChangeSet', { ExecutionStatus: 'AVAILABLE', Changes }),
});
const tableWith = (Replacement: string) => ({
  ResourceChange: {
    ...{ Action: 'Modify', ResourceType: table, LogicalResourceId: 'Pets', Replacement },
  },
});

beforeEach(() => {
  aws.requests.length = 0;
  project.git('switch', '--quiet', 'main');
});

/** The commands of the last run of the CDK. */
let ran: readonly string[] = [];
const deploy = async (
  stage: 'staging' | 'prod' | 'dev-alice',
  words: string,
  responses: Responses = {},
  { variables = {}, ...options }: { variables?: object; answer?: () => string } = {},
) => {
  aws.responses = {
    ...caller(stage === 'dev-alice' ? '000000000000' : accounts[stage]),
    'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
    'GET /account': json({ cloudwatchRoleArn: 'arn:aws:iam::000000000000:role/logs' }),
    'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 1_000 } }),
    ListStackResources: xml('ListStackResources', {}),
    DescribeStacks: stackWith(first),
    ...withChanges(tableWith('False')),
    DeleteChangeSet: xml('DeleteChangeSet', {}),
    'DynamoDB_20120810.Scan': json({ Items: [] }),
    'DynamoDB_20120810.PutItem': json({}),
    ...responses,
  };
  const command = `node infra/commands/deploy/main.ts --stage ${stage}${words && ` ${words}`}`;
  const result = await project.run(command, { ...aws.variables, ...variables }, options);
  ran = result.cdk;
  return result;
};
const prepared = () => ran.find((command) => command.includes('prepare-change-set'));
const isExecuted = () => ran.some((command) => command.includes('execute-change-set'));
const nameIn = (command = '') => /--change-set-name (\S+)/.exec(command)?.[1];
/** The names of the change sets in the calls of an action of CloudFormation. */
const changeSetsOf = (name: string) =>
  aws.requests
    .filter(({ action }) => action === name)
    .map(({ body }) => new URLSearchParams(body).get('ChangeSetName'));

describe('npm run deploy', () => {
  it('executes exactly the change set that it has shown', async () => {
    const { out, err, exitCode } = await deploy('staging', '--yes');
    expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
    expect(out).toContain(`Stage staging, account ${accounts.staging}, region eu-west-1`);
    expect(out).toContain(`Modify ${table} Pets`);
    for (const commit of [first, head]) expect(out).toContain(commit);
    const [synth, prepare, execute, ...others] = ran;
    expect(others).toEqual([]);
    const folder = /--output (\S+)/.exec(`${synth}`)?.[1];
    for (const command of [prepare, execute])
      expect(command).toContain(`deploy AnimalStore-staging --app ${folder} `);
    expect(changeSetsOf('DescribeChangeSet')).toEqual([nameIn(prepare)]);
    expect(nameIn(execute)).toBe(nameIn(prepare));
    expect(isExecuted()).toBe(true);
  });

  const both = { PreviousCommit: 'c0' };
  it.each([
    ['its commit and the one that it replaces', '', stackWith(first, both), [head, first]],
    ['the same commits when it is repeated', '', stackWith(head, both), [head, 'c0']],
    ['no former commit after a way back', '--revert', stackWith(first, both), [head, 'unknown']],
    ['the same commits after the same way back', '--revert', stackWith(head, both), [head, 'c0']],
    ['no former commit at first', '', xml('DescribeStacks', {}), [head, 'unknown']],
  ])('tells the stack %s', async (_what, words, DescribeStacks, [commit, former]) => {
    await deploy('staging', `--yes ${words}`.trim(), { DescribeStacks });
    expect(prepared()).toContain(
      `--no-previous-parameters --parameters Commit=${commit} --parameters PreviousCommit=${former}`,
    );
  });

  it.each([
    ['', 'canary'],
    ['--all-at-once', 'all-at-once'],
    ['--revert', 'all-at-once'],
  ])('moves the traffic of prod as %j says', async (words, how) => {
    await deploy('prod', `--yes ${words}`.trim());
    expect(prepared()).toContain(`--parameters Traffic=${how} `);
  });

  it('executes nothing if nothing differs', async () => {
    const unavailable = xml('DescribeChangeSet', { ExecutionStatus: 'UNAVAILABLE' });
    const { exitCode } = await deploy('staging', '--yes', { DescribeChangeSet: unavailable });
    expect({ exitCode, isExecuted: isExecuted() }).toEqual({ exitCode: 0, isExecuted: false });
  });

  it.each(['OBSOLETE', 'EXECUTE_IN_PROGRESS'])(
    'does not take the change set %s, which another deployment outran, for one without changes',
    async (ExecutionStatus) => {
      const outrun = xml('DescribeChangeSet', { ExecutionStatus });
      const { err, exitCode } = await deploy('staging', '--yes', { DescribeChangeSet: outrun });
      expect(err).toMatch(/^error: AnimalStore-staging was deployed just now/);
      expect({ exitCode, isExecuted: isExecuted() }).toEqual({ exitCode: 1, isExecuted: false });
    },
  );

  it('executes a change set that changes only outputs', async () => {
    const { exitCode } = await deploy('staging', '--yes', withChanges());
    expect({ exitCode, isExecuted: isExecuted() }).toEqual({ exitCode: 0, isExecuted: true });
  });

  it('deletes a change set that would lose a table', async () => {
    const { err, exitCode } = await deploy('staging', '--yes', withChanges(tableWith('True')));
    expect(err).toContain(`error: ${table} Pets: Modify with Replacement True.`);
    expect({ exitCode, isExecuted: isExecuted() }).toEqual({ exitCode: 1, isExecuted: false });
    expect(changeSetsOf('DeleteChangeSet')).toEqual([nameIn(prepared())]);
  });

  it('executes it with --destructive, and says what is lost', async () => {
    const { out } = await deploy('staging', '--yes --destructive', withChanges(tableWith('True')));
    expect(out).toContain(`${table} Pets: Modify with Replacement True`);
    expect(isExecuted()).toBe(true);
  });

  it('undoes drift when it is told so', async () => {
    await deploy('staging', '--yes --revert-drift');
    expect(ran.map((command) => command.includes('--revert-drift'))).toEqual([false, true, false]);
  });

  it('does nothing unless somebody can be asked', async () => {
    const { err, exitCode } = await deploy('staging', '');
    expect({ err, exitCode, ran }).toEqual({
      err: 'error: There is no terminal to ask: add --yes\n',
      exitCode: 1,
      ran: [],
    });
  });

  it('changes nothing while the stack is changed, and says how to stop that', async () => {
    const DescribeStacks = stackWith(first, { StackStatus: 'UPDATE_IN_PROGRESS' });
    const { err, exitCode } = await deploy('prod', '--yes --revert', { DescribeStacks });
    expect(err).toContain('aws cloudformation cancel-update-stack --stack-name AnimalStore-prod');
    expect({ exitCode, ran }).toEqual({ exitCode: 1, ran: [] });
  });

  it('says at Ctrl-C that AWS may continue', async () => {
    const DescribeChangeSet = () => {
      project.interrupt();
      return xml('DescribeChangeSet', { ExecutionStatus: 'AVAILABLE' });
    };
    const { err, exitCode } = await deploy('staging', '--yes', { DescribeChangeSet });
    expect(err).toBe('error: Interrupted. AWS may continue. Run the same command again.\n');
    expect(exitCode).toBe(130);
  });
});

describe('npm run deploy with what an account lacks', () => {
  const empty: Responses = {
    'AmazonSSM.GetParameter': jsonError('ParameterNotFound'),
    'GET /account': json({}),
    DescribeStacks: xml('DescribeStacks', {}),
  };

  it('adds it for a personal stage, which gets its first key', async () => {
    let isDeployed = false;
    const { out, err, exitCode } = await deploy('dev-alice', '--yes', {
      ...empty,
      DescribeChangeSet: () => {
        isDeployed = true;
        return withChanges().DescribeChangeSet;
      },
      DescribeStacks: () => (isDeployed ? stackWith(head) : xml('DescribeStacks', {})),
    });
    expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
    expect(ran).toEqual([
      expect.stringMatching(/^synth AnimalStore-dev-alice .*--context stage=dev-alice /),
      'bootstrap aws://000000000000/eu-west-1 --context stage=dev-alice',
      expect.stringMatching(/^deploy AnimalStore-account /),
      expect.stringMatching(/^deploy AnimalStore-dev-alice .*prepare-change-set/),
      expect.stringMatching(/^deploy AnimalStore-dev-alice .*execute-change-set/),
    ]);
    expect(out.match(/^curl .*\/v1\/pets.* -H "Authorization: Bearer pets_test_/gm)).toHaveLength(
      2,
    );
    expect(out).toContain('npm run destroy -- --stage dev-alice');
  });

  it('does not add it unless somebody agrees', async () => {
    const { out, exitCode } = await deploy('dev-alice', '', empty, { answer: () => 'no' });
    expect(out).toMatch(/1\. Bootstrap the account/);
    expect({ exitCode, ran }).toEqual({ exitCode: 1, ran: [expect.stringMatching(/^synth /)] });
  });

  it('refuses it in a pipeline, which deploys only the stack', async () => {
    const refused = await deploy('staging', '--yes --app stacks', empty);
    expect(refused.err).toMatch(/^error: CDK's bootstrap is missing: npm run deploy -- --stage/m);
    expect({ exitCode: refused.exitCode, ran }).toEqual({ exitCode: 1, ran: [] });
    await deploy('staging', '--yes --app stacks');
    expect(ran.map((command) => command.split(' ').slice(0, 4).join(' '))).toEqual(
      Array(2).fill('deploy AnimalStore-staging --app stacks'),
    );
  });

  it('issues no second key', async () => {
    const key = {
      ...{ keyId: { S: '0' }, hash: { B: Buffer.alloc(32).toString('base64') } },
      ...{ owner: { S: 'alice' }, lastFour: { S: 'abcd' }, createdAt: { S: '2026' } },
    };
    const Items = [key];
    const { out } = await deploy('dev-alice', '--yes', {
      'DynamoDB_20120810.Scan': json({ Items }),
    });
    expect(out).toContain('-H "Authorization: Bearer $API_KEY"');
  });

  it('ends at a permanent stage with what its operator has to do', async () => {
    const topic = {
      ResourceType: 'AWS::SNS::Topic',
      LogicalResourceId: 'MonitoringTopic',
      PhysicalResourceId: 'topic',
    };
    const subscription = { Endpoint: 'on-call@store.test', SubscriptionArn: 'PendingConfirmation' };
    let isDeployed = false;
    const { out, err } = await deploy('staging', '--yes', {
      DescribeChangeSet: () => {
        isDeployed = true;
        return withChanges().DescribeChangeSet;
      },
      ListStackResources: () =>
        xml('ListStackResources', { StackResourceSummaries: isDeployed ? [topic] : [] }),
      ListSubscriptionsByTopic: xml('ListSubscriptionsByTopic', { Subscriptions: [subscription] }),
      'AmazonSSM.GetParameter': (body) =>
        body.includes('probe-api-key')
          ? jsonError('ParameterNotFound')
          : json({ Parameter: { Value: '33' } }),
    });
    expect(err).toBe('');
    const [, left = ''] = out.split('Before the next deployment:\n');
    expect(left).toContain('on-call@store.test has not confirmed');
    expect(left).toContain('npm run keys -- issue --for-probe --stage staging');
    expect(out).not.toContain('pets_test_');
  });
});

describe('npm run deploy with what is checked out', () => {
  const untracked = join(project.directory, 'functions', 'new.ts');

  it('refuses a new file in staging, also if git is set to hide it', async () => {
    await writeFile(untracked, '');
    project.git('config', 'status.showUntrackedFiles', 'no');
    onTestFinished(async () => {
      project.git('config', '--unset', 'status.showUntrackedFiles');
      await rm(untracked);
    });
    const { err, exitCode } = await deploy('staging', '--yes');
    expect(err).toMatch(/^error: .*commit or stash/);
    expect({ exitCode, ran }).toEqual({ exitCode: 1, ran: [] });
    await deploy('dev-alice', '--yes');
    expect(prepared()).toContain(`--parameters Commit=${head}-dirty `);
  });

  it('deploys nothing if a file changes before it is synthesised', async () => {
    const { err, exitCode } = await deploy('staging', '--yes', {
      'AmazonSSM.GetParameter': () => {
        writeFileSync(untracked, '');
        onTestFinished(() => rmSync(untracked, { force: true }));
        return json({ Parameter: { Value: '33' } });
      },
    });
    expect(err).toMatch(/^error: .*commit or stash/);
    expect({ exitCode, prepared: prepared() }).toEqual({ exitCode: 1, prepared: undefined });
  });

  it('says in git’s own words why it refuses a permanent stage outside a repository', async () => {
    const variables = { GIT_DIR: '/nowhere' };
    const { err, exitCode } = await deploy('prod', '--yes', {}, { variables });
    expect(err).toMatch(/not a git repository: '\/nowhere'/);
    expect(err.split('\n')).toHaveLength(2);
    expect({ exitCode, ran }).toEqual({ exitCode: 1, ran: [] });
    await deploy('dev-alice', '--yes', {}, { variables });
    expect(prepared()).toContain('--parameters Commit=unknown ');
    expect(isExecuted()).toBe(true);
  });
});

describe('the way back of prod', () => {
  const DescribeStacks = stackWith(head, { PreviousCommit: first });
  beforeEach(() => void project.git('switch', '--quiet', '--detach', first));

  it('is refused without --revert, because it takes back a commit', async () => {
    const { err, exitCode } = await deploy('prod', '--yes', { DescribeStacks });
    expect(err).toMatch(new RegExp(`AnimalStore-prod has the commit ${head}.*take back.*--revert`));
    expect({ exitCode, ran }).toEqual({ exitCode: 1, ran: [] });
  });

  it('says that a clone lacks the commit of prod', async () => {
    const { err } = await deploy('prod', '--yes', { DescribeStacks: stackWith('f'.repeat(40)) });
    expect(err).toMatch(/which this clone does not have: git fetch\b/);
    expect(ran).toEqual([]);
  });

  it('says that a shallow clone lacks the history', async () => {
    const shallow = join(project.directory, '.git', 'shallow');
    await writeFile(shallow, `${head}\n`);
    onTestFinished(() => rm(shallow));
    project.git('switch', '--quiet', '--detach', head);
    const { err } = await deploy('prod', '--yes', { DescribeStacks: stackWith(first) });
    expect(err).toMatch(/lacks the history .*: git fetch --unshallow\n$/);
    expect(ran).toEqual([]);
  });

  it('is shown, is asked for, and moves all traffic at once, even if the account lacks something', async () => {
    const { out, exitCode } = await deploy(
      'prod',
      '--revert',
      { DescribeStacks, 'AmazonSSM.GetParameter': jsonError('ParameterNotFound') },
      { answer: () => 'prod' },
    );
    expect(out).toMatch(/^warning: CDK's bootstrap is missing/m);
    expect(ran[0]).toContain('--context placeholders=allowed');
    const [shown = ''] = out.split('Type prod');
    for (const text of [head, first, `Modify ${table} Pets`]) expect(shown).toContain(text);
    expect(prepared()).toContain(
      `--parameters Commit=${first} --parameters PreviousCommit=unknown --parameters Traffic=all-at-once`,
    );
    expect({ exitCode, isExecuted: isExecuted() }).toEqual({ exitCode: 0, isExecuted: true });
  });

  it.each<[string, string, Responses, () => string, RegExp]>([
    ['if nobody agrees', '', {}, () => 'no', /Nothing was changed/],
    [
      'if another deployment ends while it asks',
      '',
      {},
      () => {
        aws.responses = { ...aws.responses, DescribeStacks: stackWith('c0ffee') };
        return 'prod';
      },
      /^error: .*c0ffee/m,
    ],
    ['past a table', '', withChanges(tableWith('True')), () => 'prod', /hotfix.*"Hotfix" in infra/],
    [
      'with credentials of another account',
      '',
      caller('123456789012'),
      () => 'prod',
      /123456789012/,
    ],
  ])('changes nothing %s', async (_when, words, responses, answer, message) => {
    const options = { answer };
    const { out, exitCode } = await deploy(
      'prod',
      `--revert ${words}`.trim(),
      { DescribeStacks, ...responses },
      options,
    );
    expect(out).toMatch(message);
    expect({ exitCode, isExecuted: isExecuted() }).toEqual({ exitCode: 1, isExecuted: false });
    expect(changeSetsOf('DeleteChangeSet')).toEqual([nameIn(prepared())].filter(Boolean));
  });
});

it('npm run status prints the status and the commits of a stage, and changes nothing', async () => {
  await deploy('prod', '--yes');
  aws.responses = {
    ...aws.responses,
    DescribeStacks: stackWith(head, {
      PreviousCommit: first,
      StackStatus: 'UPDATE_IN_PROGRESS',
    }),
  };
  aws.requests.length = 0;
  const { out, err, cdk } = await project.run(
    'node infra/commands/status.ts --stage prod',
    aws.variables,
  );
  expect({ err, cdk }).toEqual({ err: '', cdk: [] });
  for (const text of ['UPDATE_IN_PROGRESS', head, first, 'http://a1.execute-api.localhost'])
    expect(out).toContain(text);
});

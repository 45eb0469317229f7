import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deployProgram } from '../../infra/commands/deploy.ts';
import { printStatus } from '../../infra/commands/shared/print-status.ts';
import { prod, type Stage, staging } from '../../infra/settings/stages.ts';
import {
  type AwsResponse,
  caller,
  json,
  jsonError,
  noStack,
  type Responses,
  resourcesOfStack,
  stackIn,
  startAwsEndpoint,
  xml,
  xmlError,
} from '../support/aws-endpoint.ts';
import { addCommit, gitIn } from '../support/git-in.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runCommand } from './run-command.ts';

const table = 'AWS::DynamoDB::Table';

const aws = await startAwsEndpoint();
const accounts = { staging: '777777777777', prod: '888888888888' };
const region = 'eu-west-1';
const settings = { alarmRecipients: ['on-call@store.test'] };
const stages = [
  { ...staging, ...settings, env: { account: accounts.staging, region } },
  { ...prod, ...settings, env: { account: accounts.prod, region } },
] as const;

const directory = await temporaryFolder(afterAll);
const git = gitIn(directory);
const commit = (message: string) => addCommit(git, message);
git('init', '--quiet', '--initial-branch', 'main');
const first = commit('first');
const head = commit('second');

/** A deployed stack. */
const stackWith = (
  Commit: string,
  { PreviousCommit = 'unknown', StackStatus = 'UPDATE_COMPLETE' } = {},
) => {
  const outputs = { BaseAddress: 'https://a1.test/v1', KeysTableName: 'keys' };
  return stackIn(StackStatus, outputs, { Commit, PreviousCommit });
};
const firstIn = (StackStatus: string) => stackWith(first, { StackStatus });
/** The template of the deployed stack and of the next one. */
const withTable = { Resources: { Pets: { Type: table } } };
const deployedAs = (template: object) => ({
  GetTemplate: xml('GetTemplate', { TemplateBody: JSON.stringify(template) }),
});

/** A CDK that notes its region and its words, fails if they contain those of FAILING, and writes templates. */
const programs = await temporaryFolder(afterAll);
const notes = join(programs, 'notes');
const template = join(programs, 'template.json');
const fakeCdk = `#!/bin/sh
echo "$AWS_REGION: $*" >>${notes}
case "$*" in *"\${FAILING:-none}"*) exit 1 ;; esac
case "$1" in synth) for folder; do :; done; cp ${template} "$folder/$2.template.json" ;; esac
`;
writeFileSync(join(programs, 'cdk'), fakeCdk, { mode: 0o755 });
writeFileSync(template, JSON.stringify(withTable));

beforeEach(() => {
  // The command asks git too, which would read the configuration of who runs the tests.
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  git('switch', '--quiet', 'main');
  vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`);
});

/** The commands of the CDK that the last run of `deploy` gave. */
let ran: string[] = [];
/** Deploys a stage. `answer` returns what an operator types; without it, there is no terminal. */
const deploy = async (
  stage: 'staging' | 'prod' | 'dev-alice',
  words: string,
  responses: Responses = {},
  answer?: () => string,
  permanent: readonly Stage[] = stages,
) => {
  aws.responses = {
    ...caller(stage === 'staging' || stage === 'prod' ? accounts[stage] : '000000000000'),
    ListStackResources: resourcesOfStack(),
    DescribeStacks: stackWith(first),
    ...deployedAs(withTable),
    Scan: json({ Items: [] }),
    PutItem: json({}),
    ...responses,
  };
  writeFileSync(notes, '');
  const ask =
    answer &&
    (async (question: string) => {
      console.log(question);
      return answer();
    });
  const isOnTerminal = ask !== undefined;
  const program = deployProgram({ stages: permanent, directory, ask, isOnTerminal });
  const result = await runCommand(program, ['--stage', stage, ...words.split(' ').filter(Boolean)]);
  ran = readFileSync(notes, 'utf8').split('\n').slice(0, -1);
  return result;
};
const deployed = () => ran.find((command) => command.includes(': deploy '));

describe('npm run deploy', () => {
  it('shows what changes, and deploys what it has synthesised', async () => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    const { out, err, error } = await deploy('staging', '--yes');
    expect({ err, error }).toEqual({ err: '', error: '' });
    expect(out).toContain(`Stage staging, account ${accounts.staging}, region eu-west-1`);
    for (const text of [first, head]) expect(out).toContain(text);
    const folder = /--output (\S+)/.exec(`${ran[0]}`)?.[1];
    // By the usual name of a change set, the CDK could execute that of another run.
    const own = '--require-approval never --change-set-name npm-run-deploy-[0-9a-f-]{36}';
    const parameters = `--no-previous-parameters --parameters Commit=${head} --parameters PreviousCommit=${first}`;
    const expected = [
      '^eu-west-1: synth AnimalStore-staging ',
      `^eu-west-1: diff AnimalStore-staging --app ${folder} --method template$`,
      `^eu-west-1: deploy AnimalStore-staging --app ${folder} ${own} ${parameters}$`,
    ];
    expect(ran).toEqual(expected.map((command) => expect.stringMatching(command)));
  });

  const both = { PreviousCommit: 'c0' };
  it.each([
    ['the same commits when it is repeated', '', stackWith(head, both), [head, 'c0']],
    ['no former commit after a way back', '--revert', stackWith(first, both), [head, 'unknown']],
    ['the same commits after the same way back', '--revert', stackWith(head, both), [head, 'c0']],
  ])('tells the stack %s', async (_what, words, DescribeStacks, [commit, former]) => {
    await deploy('staging', `--yes ${words}`, { DescribeStacks });
    expect(deployed()).toContain(
      `--no-previous-parameters --parameters Commit=${commit} --parameters PreviousCommit=${former}`,
    );
  });

  it.each([
    ['', 'canary'],
    ['--all-at-once', 'all-at-once'],
  ])('moves the traffic of prod as %j says', async (words, how) => {
    const { out } = await deploy('prod', `--yes ${words}`);
    expect(out).toMatch(/traffic moves/);
    expect(deployed()).toMatch(new RegExp(` --parameters Traffic=${how}$`));
  });

  it.each([
    ['there is none', noStack],
    ['its creation failed', firstIn('ROLLBACK_COMPLETE')],
    ['the rollback of its creation failed', firstIn('ROLLBACK_FAILED')],
    ['it was only prepared', firstIn('REVIEW_IN_PROGRESS')],
  ])('creates the stack if %s, and moves no traffic', async (_when, DescribeStacks) => {
    const { out } = await deploy('prod', '--yes', { DescribeStacks });
    expect(aws.requests.map(({ action }) => action)).not.toContain('GetTemplate');
    expect(deployed()).toContain(`Commit=${head} --parameters PreviousCommit=unknown`);
    expect(out).not.toMatch(/traffic moves/);
  });

  it.each(['synth', 'diff', 'deploy'])('fails when the CDK does: %s', async (action) => {
    vi.stubEnv('FAILING', `${action} AnimalStore`);
    const { error } = await deploy('staging', '--yes');
    expect(error).toBe(`cdk ${action} failed: see above`);
    expect(ran.at(-1)).toContain(`: ${action} `);
  });

  it('refuses to lose a table without --destructive', async () => {
    const more = { Resources: { ...withTable.Resources, Lost: { Type: table } } };
    const { error } = await deploy('staging', '--yes', deployedAs(more));
    expect(error).toContain(`${table} Lost would be removed or replaced.`);
    expect(deployed()).toBeUndefined();
    await deploy('staging', '--yes --destructive', deployedAs(more));
    expect(deployed()).toBeDefined();
  });

  const yaml = xml('GetTemplate', { TemplateBody: 'Resources:\n  Pets: {}\n' });
  const denied = xmlError('AccessDenied', 'User: arn is not authorized');
  it.each<[string, AwsResponse, RegExp]>([
    ['is YAML', yaml, /not JSON\. Add --destructive, /],
    ['is the page of a proxy', [200, '<html>Welcome</html>'], /GetTemplate: .* proxy/],
    ['is denied', denied, /GetTemplate: User: arn is not .* see "GitHub" in .*\.md\.$/],
  ])('says what to do if the deployed template %s', async (_what, GetTemplate, message) => {
    const { error } = await deploy('staging', '--yes', { GetTemplate });
    expect(error).toMatch(message);
    expect(deployed()).toBeUndefined();
    await deploy('staging', '--yes --destructive', { GetTemplate });
    expect(deployed() !== undefined).toBe(GetTemplate === yaml);
  });

  it.each([
    ['DELETE_IN_PROGRESS', /^AnimalStore-prod is being destroyed: wait/],
    ['UPDATE_IN_PROGRESS', /aws cloudformation cancel-update-stack --stack-name AnimalStore-prod/],
    ['UPDATE_ROLLBACK_FAILED', /parts of two releases. See "canary-errors"/],
  ])('changes nothing while the stack is %s, and says what to do', async (StackStatus, what) => {
    const DescribeStacks = firstIn(StackStatus);
    expect((await deploy('prod', '--yes --revert', { DescribeStacks })).error).toMatch(what);
    expect(ran).toEqual([]);
  });
});

describe('npm run deploy of a stage', () => {
  it('lets Lambda execute the script of a function, whatever its file went through', async () => {
    const folder = await temporaryFolder();
    const script = join(folder, 'asset.1/exec-wrapper');
    mkdirSync(dirname(script));
    writeFileSync(script, '', { mode: 0o600 });
    writeFileSync(join(folder, 'AnimalStore-staging.template.json'), JSON.stringify(withTable));
    await deploy('staging', `--yes --app ${folder}`);
    expect(deployed()).toContain(`--app ${folder}`);
    expect((statSync(script).mode & 0o777).toString(8)).toBe('755');
  });

  const key = {
    ...{ keyId: { S: '0' }, hash: { B: Buffer.alloc(32).toString('base64') } },
    ...{ owner: { S: 'alice' }, lastFour: { S: 'abcd' }, createdAt: { S: '2026' } },
  };
  it.each<[where: string, answer: (() => string) | undefined, Items: object[], keys: number]>([
    ['the first key of a personal stage on a terminal', () => 'dev-alice', [], 1],
    ['no second key', () => 'dev-alice', [key], 0],
    ['no key into a log, which others may read', undefined, [], 0],
  ])('issues %s', async (_where, answer, Items, keys) => {
    const Scan = json({ Items });
    const { out } = await deploy('dev-alice', answer ? '' : '--yes', { Scan }, answer);
    const issued = aws.requests.filter(({ action }) => action === 'PutItem');
    expect(issued).toHaveLength(keys);
    expect(/pets_test_/.test(out)).toBe(keys === 1);
    expect(out.includes('-H "Authorization: Bearer $API_KEY"')).toBe(keys === 0);
    expect(out).toMatch(/^curl '.*\/pets\?limit=5'/m);
  });
});

describe('npm run deploy with the settings of the repository', () => {
  const [ofStaging, ofProd] = stages;

  it('deploys staging before prod is set, and refuses prod', async () => {
    for (const [setting, unset] of [
      ['env', { env: { region } }],
      ['env', { env: undefined }],
      ['alarmRecipients', { alarmRecipients: [] }],
    ] as const) {
      const permanent = [ofStaging, { ...ofProd, ...unset }];
      const { error } = await deploy('staging', '--yes', {}, undefined, permanent);
      expect(error).toBe('');
      const refused = await deploy('prod', '--yes', {}, undefined, permanent);
      expect(refused.error).toMatch(new RegExp(`^${setting} of prod .*infra/settings/stages.ts$`));
      expect(ran).toEqual([]);
    }
  });

  const shared = [ofStaging, { ...ofProd, env: ofStaging.env }];

  it('warns that a release of staging can change prod in the same account', async () => {
    const { err } = await deploy('staging', '--yes', {}, undefined, shared);
    expect(err).toMatch(
      new RegExp(`warning: .* account ${accounts.staging} of prod, .*staging can change`),
    );
  });

  it('puts no personal stage into the account of a stage in production', async () => {
    const { error } = await deploy('dev-alice', '--yes', caller(accounts.prod));
    expect(error).toBe(
      `The credentials belong to the account ${accounts.prod} of prod: use others.`,
    );
    expect(ran).toEqual([]);
  });
});

describe('npm run deploy with what is checked out', () => {
  const untracked = join(directory, 'new.ts');

  it('refuses a new file in staging, also if git is set to hide it', async () => {
    writeFileSync(untracked, '');
    git('config', 'status.showUntrackedFiles', 'no');
    onTestFinished(() => {
      git('config', '--unset', 'status.showUntrackedFiles');
      rmSync(untracked);
    });
    const { error } = await deploy('staging', '--yes');
    expect(error).toMatch(/commit or stash/);
    expect(ran).toEqual([]);
    await deploy('dev-alice', '--yes');
    expect(deployed()).toContain(`--parameters Commit=${head}-dirty `);
  });

  it.each([
    ['a file changes', () => writeFileSync(untracked, ''), /commit or stash/],
    ['HEAD moves', () => git('switch', '--quiet', '--detach', first), /run the same command again/],
  ])('deploys nothing if %s before it is synthesised', async (_what, act, message) => {
    onTestFinished(() => rmSync(untracked, { force: true }));
    const { error } = await deploy('staging', '--yes', {
      DescribeStacks: () => {
        act();
        return stackWith(first);
      },
    });
    expect(error).toMatch(message);
    expect(deployed()).toBeUndefined();
  });

  it('names the commit of its own folder, also in a hook of another repository', async () => {
    vi.stubEnv('GIT_DIR', '/nowhere');
    const { error } = await deploy('prod', '--yes');
    expect(error).toBe('');
    expect(deployed()).toContain(`--parameters Commit=${head} `);
  });

  it('deploys the repository of another user, as in a container, if a variable says that it is safe', async () => {
    vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
    expect((await deploy('prod', '--yes')).error).toMatch(/dubious ownership/);
    vi.stubEnv('GIT_CONFIG_COUNT', '1');
    vi.stubEnv('GIT_CONFIG_KEY_0', 'safe.directory');
    vi.stubEnv('GIT_CONFIG_VALUE_0', directory);
    expect((await deploy('prod', '--yes')).error).toBe('');
  });

  it('says in git’s own words why it refuses a permanent stage outside a repository', async () => {
    const repository = join(directory, '.git');
    renameSync(repository, `${repository}-moved`);
    onTestFinished(() => renameSync(`${repository}-moved`, repository));
    const { error } = await deploy('prod', '--yes');
    expect(error).toMatch(/^.*not a git repository.*$/);
    expect(ran).toEqual([]);
    await deploy('dev-alice', '--yes');
    expect(deployed()).toContain('--parameters Commit=unknown ');
  });
});

describe('the way back of prod', () => {
  const DescribeStacks = stackWith(head, { PreviousCommit: first });
  beforeEach(() => void git('switch', '--quiet', '--detach', first));

  it('is refused without --revert, because it takes back a commit', async () => {
    const { error } = await deploy('prod', '--yes', { DescribeStacks });
    expect(error).toMatch(
      new RegExp(`AnimalStore-prod has the commit ${head}.*take back.*--revert`),
    );
    expect(ran).toEqual([]);
  });

  it('says that a clone lacks the commit of prod', async () => {
    const unknown = stackWith('f'.repeat(40));
    const { error } = await deploy('prod', '--yes', { DescribeStacks: unknown });
    expect(error).toMatch(/which this clone does not have: git fetch\b/);
    expect(ran).toEqual([]);
    for (const known of ['unknown', `${first}-dirty`]) {
      const released = await deploy('prod', '--yes', { DescribeStacks: stackWith(known) });
      expect(released.error).toBe('');
    }
  });

  it('says that a shallow clone lacks the history', async () => {
    const shallow = join(directory, '.git', 'shallow');
    writeFileSync(shallow, `${head}\n`);
    onTestFinished(() => rmSync(shallow));
    git('switch', '--quiet', '--detach', head);
    const { error } = await deploy('prod', '--yes', { DescribeStacks: stackWith(first) });
    expect(error).toMatch(/lacks the history .*: git fetch --unshallow$/);
    expect(ran).toEqual([]);
  });

  it('is shown, is asked for, and moves all traffic at once', async () => {
    const { out, error } = await deploy('prod', '--revert', { DescribeStacks }, () => 'prod');
    const [plan = ''] = out.split('Type prod');
    for (const text of [head, first]) expect(plan).toContain(text);
    expect(ran.map((command) => command.split(' ')[1])).toEqual(['synth', 'diff', 'deploy']);
    expect(deployed()).toContain(
      `--parameters Commit=${first} --parameters PreviousCommit=unknown --parameters Traffic=all-at-once`,
    );
    expect(error).toBe('');
  });

  /** Agrees after somebody else has changed the stack. */
  const meanwhile = (DescribeStacks: AwsResponse) => () => {
    aws.respond({ DescribeStacks });
    return 'prod';
  };
  it.each<[string, Responses, () => string, RegExp]>([
    ['if nobody agrees', {}, () => 'no', /^Nothing .*was changed/],
    ['if another one ends while it asks', {}, meanwhile(stackWith('c0ffee')), /by somebody else/],
    ['if another one begins', {}, meanwhile(firstIn('UPDATE_IN_PROGRESS')), /Wait for its end/],
    [
      'past a table',
      deployedAs({ Resources: { Lost: { Type: table } } }),
      () => 'prod',
      /hotfix.*"Hotfix" in infra/,
    ],
    ['with credentials of another account', caller('123456789012'), () => 'prod', /123456789012/],
  ])('changes nothing %s', async (_when, responses, answer, message) => {
    const { error } = await deploy('prod', '--revert', { DescribeStacks, ...responses }, answer);
    expect(error).toMatch(message);
    expect(deployed()).toBeUndefined();
  });
});

it.each([
  [jsonError('ResourceNotFoundException'), true],
  [jsonError('AccessDeniedException'), false],
  [json({ Table: {} }), false],
])(
  'npm run status only reads, and names a table that is gone: %j',
  async (DescribeTable, isGone) => {
    const StackStatus = 'UPDATE_IN_PROGRESS';
    aws.responses = {
      ...caller(accounts.prod),
      DescribeStacks: stackWith(head, { PreviousCommit: first, StackStatus }),
      ListStackResources: resourcesOfStack(['DynamoDB::Table', 'PetsTable0A', 'prod-Pets']),
      DescribeTable,
    };
    const printed = vi.spyOn(console, 'log').mockReturnValue();
    await printStatus(stages[1]);
    const lines = printed.mock.calls.join('\n');
    for (const text of [StackStatus, head, first, 'http://a1.execute-api.localhost'])
      expect(lines).toContain(text);
    const gone = 'prod-Pets is gone: see "restore"';
    expect(lines.includes(gone)).toBe(isGone);
    for (const { action } of aws.requests) expect(action).toMatch(/^(Get|Describe|List)/);
  },
);

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { clientPackage, runbookLink } from '../../infra/settings/owner.ts';
import { staging } from '../../infra/settings/stages.ts';
import { json, noStack, startAwsEndpoint, xml, xmlError } from '../support/aws-endpoint.ts';
import { copySources } from '../support/copy-sources.ts';
import { addFakeCdk, templateFile } from '../support/fake-cdk.ts';

const account = '777777777777';
const region = `${staging.environment?.region}`;
const aws = await startAwsEndpoint();
const directory = await mkdtemp(join(tmpdir(), 'animal-store-first-deployment-'));

/** Finds a setting of a stage in stages.ts. */
const settingOf = (stage: string, name: string) =>
  new RegExp(`(?<=name: '${stage}',[^]*?\\b${name}: )(\\{[^}]*\\}|\\[[^\\]]*\\]|undefined)`);

const ownEnvironment = `{ account: '${account}', region: '${region}' }`;
const ownRecipients = "['on-call@store.test']";
type Setting = readonly [file: string, present: RegExp | string, value: string];

/** The settings of an operator who has a repository and an account for staging, but none for prod. */
const settings: readonly Setting[] = [
  ['infra/settings/stages.ts', /(?<=stages: readonly Stage\[\] = )\[.*\]/, '[staging, prod]'],
  ['infra/settings/stages.ts', settingOf('staging', 'environment'), ownEnvironment],
  ['infra/settings/stages.ts', settingOf('staging', 'alarmRecipients'), ownRecipients],
  ['infra/settings/stages.ts', settingOf('prod', 'environment'), `{ region: '${region}' }`],
  ['infra/settings/stages.ts', settingOf('prod', 'alarmRecipients'), '[]'],
  ['infra/settings/owner.ts', runbookLink, 'https://git.store.test/runbook.md'],
];
const apply = async (changes: readonly Setting[]) => {
  for (const [file, present, value] of changes) {
    const path = join(directory, file);
    const source = await readFile(path, 'utf8');
    expect(source).toMatch(present);
    await writeFile(path, source.replace(present, value));
  }
};

const programs = join(directory, 'programs');
await mkdir(programs);
const cdkLog = await addFakeCdk(programs);
/** Returns the commands of the CDK since the last call. */
const takeCdkCommands = async () => {
  const commands = await readFile(cdkLog, 'utf8');
  await writeFile(cdkLog, '');
  return commands;
};

beforeAll(async () => {
  await copySources(directory);
  await symlink(join(projectDirectory, 'node_modules'), join(directory, 'node_modules'));
  await apply(settings);
  aws.responses = {
    GetCallerIdentity: xml('GetCallerIdentity', { Account: account }),
    'AmazonSSM.GetParameter': json({ Parameter: { Value: '33' } }),
    'GET /2016-08-19/account-settings': json({ AccountLimit: { ConcurrentExecutions: 1_000 } }),
    'GET /account': json({ cloudwatchRoleArn: `arn:aws:iam::${account}:role/logs` }),
    ListStackResources: noStack,
    DescribeChangeSet: xml('DescribeChangeSet', { ExecutionStatus: 'UNAVAILABLE' }),
    DeleteChangeSet: xml('DeleteChangeSet', {}),
    DescribeStacks: xmlError('AccessDenied'),
  };
});

afterAll(async () => {
  aws.stop();
  await rm(directory, { recursive: true });
});

/** Runs a command in the copy of the project, with programs of a folder before those of node_modules. */
const run = async (words: string, folder = directory) => {
  const [command = '', ...rest] = words.split(' ');
  const binaries = join(projectDirectory, 'node_modules', '.bin');
  const child = spawn(command, rest, {
    cwd: directory,
    env: {
      ...aws.variables,
      AWS_REGION: region,
      PATH: [folder, binaries, process.env['PATH']].join(delimiter),
      CDK_DISABLE_CLI_TELEMETRY: 'true',
    },
  });
  const [out, err, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { out, err, exitCode };
};

describe('with staging set, and prod not set yet', () => {
  it('the preflight of staging finds staging ready', async () => {
    expect(await run('node infra/commands/preflight/main.ts --stage staging')).toEqual({
      out: expect.stringMatching(/staging .*ready/),
      err: '',
      exitCode: 0,
    });
  });

  it('npm run deploy deploys staging as it deploys a personal stage, but prints no API key', async () => {
    const { out, err, exitCode } = await run(
      'node infra/commands/deploy/main.ts --stage staging --yes',
      programs,
    );
    expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
    expect(out).toContain(`staging, account ${account}, region ${region}`);
    expect(out).not.toContain('pets_');
    expect(await takeCdkCommands()).toMatch(
      /^deploy AnimalStore-staging .* --require-approval never/m,
    );
  });

  it.each([
    ['', 'canary'],
    [' --traffic all-at-once', 'all-at-once'],
  ])(
    'npm run deploy deploys staging%s: each time it says how traffic moves',
    async (words, how) => {
      const stack = 'AnimalStore-staging';
      const { err, exitCode } = await run(
        `node infra/commands/deploy/main.ts ${stack}${words}`,
        programs,
      );
      expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
      const parameters = `--parameters Commit=unknown --parameters Template=${templateFile} --parameters Traffic=${how}`;
      expect(await takeCdkCommands()).toContain(
        `--no-previous-parameters ${parameters} --method prepare`,
      );
    },
  );

  it.each([
    'node infra/commands/deploy/main.ts AnimalStore-prod',
    'node infra/commands/preflight/main.ts --stage prod',
    'cdk synth --context stage=prod --context code-cache=off',
  ])('%s refuses prod, and says what to set', async (command) => {
    const { err, exitCode } = await run(command);
    expect(err).toContain('environment of prod has no account');
    expect(exitCode).toBe(1);
  });
});

describe('with prod set too', () => {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@store.test', ...words], {
      cwd: directory,
      encoding: 'utf8',
    }).trim();
  const commit = (name: string) => {
    git('commit', '--quiet', '--allow-empty', '--message', name);
    return git('rev-parse', 'HEAD');
  };

  beforeAll(async () => {
    await apply([
      ['infra/settings/stages.ts', settingOf('prod', 'environment'), ownEnvironment],
      ['infra/settings/stages.ts', settingOf('prod', 'alarmRecipients'), ownRecipients],
      ['infra/settings/owner.ts', clientPackage, '@store/animal-store'],
    ]);
  });

  it('the preflight warns that prod shares its account', async () => {
    const { err } = await run('node infra/commands/preflight/main.ts --stage staging');
    expect(err).toContain(
      `warning: staging and prod share the account ${account}: a release of each can change every stack of the account.`,
    );
  });

  it('npm run deploy puts no personal stage into the account of a stage in production', async () => {
    const command = 'node infra/commands/deploy/main.ts --stage dev-alice --yes';
    const { err, exitCode } = await run(command, programs);
    expect(err).toContain(`The credentials belong to the account ${account} of prod: use others.`);
    expect([exitCode, await takeCdkCommands()]).toEqual([1, '']);
  });

  it('npm run deploy refuses a release that would revert what prod has', async () => {
    git('init', '--quiet', '--initial-branch', 'main');
    await writeFile(join(directory, '.git/info/exclude'), '*');
    const first = commit('first');
    git('switch', '--quiet', '--create', 'hotfix');
    const hotfix = commit('hotfix');
    git('switch', '--quiet', 'main');
    commit('second');
    const { responses } = aws;
    onTestFinished(() => {
      aws.responses = responses;
    });
    for (const [deployed, isRefused] of [
      [first, false],
      [hotfix, true],
      // The repository lacks it.
      ['f'.repeat(40), true],
    ] as const) {
      const Parameters = [{ ParameterKey: 'Commit', ParameterValue: deployed }];
      aws.responses = {
        ...responses,
        DescribeStacks: xml('DescribeStacks', { Stacks: [{ Parameters }] }),
      };
      const command = 'node infra/commands/deploy/main.ts AnimalStore-prod';
      const { err, exitCode } = await run(command, programs);
      const refusal = `AnimalStore-prod has ${deployed}, which this would revert`;
      expect(err).toEqual(isRefused ? expect.stringContaining(refusal) : '');
      expect(exitCode).toBe(isRefused ? 1 : 0);
    }
  });
});

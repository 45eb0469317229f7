import { execFileSync, spawnSync } from 'node:child_process';
import { appendFile, mkdtempDisposable, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs';
import { DeleteParametersCommand, GetParametersCommand } from '@aws-sdk/client-ssm';
import { program } from 'commander';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { awsConfig } from '../../infra/commands/shared/aws-config.ts';
import { findStack } from '../../infra/commands/shared/deployed-stack.ts';
import { type OpenedAccount, openAccount } from '../../infra/commands/shared/open-account.ts';
import { openStage } from '../../infra/commands/shared/open-stage.ts';
import { change, runProgram } from '../../infra/commands/shared/run-program.ts';
import { shellWord } from '../../infra/commands/shared/terminal.ts';
import {
  bundleName,
  functionNames,
  probeKeyParameter,
  serviceName,
  stackName,
} from '../../infra/settings/names.ts';
import { emulated, rehearsal } from '../../infra/settings/stages.ts';
import { copySources } from '../support/copy-sources.ts';
import { gitIn } from '../support/git-in.ts';
import { sendTo } from '../support/http-client.ts';

const stack = stackName(rehearsal);
process.env['CDK_DISABLE_CLI_TELEMETRY'] = 'true';

/** Whether an emulator is used. Otherwise the stage is deployed to the account of the credentials. */
const isEmulator = process.env['AWS_ENDPOINT_URL'] !== undefined;
const stage = isEmulator ? emulated(rehearsal) : rehearsal;

const ofStage = ['--stage', rehearsal.name, ...(isEmulator ? ['--emulator'] : [])];
const npmRun = (script: string, ...words: readonly string[]) => [
  ...['npm', 'run', '--silent', script, '--'],
  ...words,
];

/** Runs a command, shows its output, and returns its exit code. */
const exitCodeOf = ([command = '', ...words]: readonly string[], cwd = projectDirectory) => {
  console.log(`\n$ ${[command, ...words].map(shellWord).join(' ')}`);
  return spawnSync(command, words, { cwd, stdio: 'inherit' }).status;
};

const succeed = (command: readonly string[], directory?: string) => {
  const exitCode = exitCodeOf(command, directory);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}`);
};

/** Runs a command, shows its output, and returns it; `undefined` if the command fails. */
const outputOf = ([command = '', ...words]: readonly string[], cwd: string) => {
  console.log(`\n$ ${[command, ...words].map(shellWord).join(' ')}`);
  const { status, stdout } = spawnSync(command, words, {
    cwd,
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  return status === 0 ? stdout : undefined;
};

const failAsExpected = (command: readonly string[], why: string, directory?: string) => {
  if (exitCodeOf(command, directory) === 0)
    throw new Error(`${command.join(' ')} succeeded: ${why}`);
  console.log(`As expected, this failed: ${why}`);
};

/**
 * What a release responds with instead of the response of `fallback`, as an expression of `event` and
 * `response`.
 */
const responses = {
  /** Names the release on a path that no test asks for. */
  good: (name: string) =>
    `event.path === '/nowhere' ? { ...response, headers: { 'X-Release': '${name}' } } : response`,
  /** The check requests find it. */
  wrong: '({ ...response, statusCode: 200 })',
  /** The check requests don't ask for the root, but the smoke test does. */
  wrongAtRoot: `event.resource === '/' ? { ...response, statusCode: 200 } : response`,
};

/** A repository with a copy of the project, in which each release is a commit. */
const makeRepository = async (directory: string) => {
  const git = gitIn(directory);
  await copySources(directory);
  await symlink(join(projectDirectory, 'node_modules'), join(directory, 'node_modules'));
  git('init', '--quiet', '--initial-branch', 'main');
  // The link to the packages is no folder, which .gitignore names.
  await writeFile(join(directory, '.git/info/exclude'), 'node_modules\n');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'the project');
  const file = join(directory, 'functions/fallback.ts');
  const original = (await readFile(file, 'utf8')).replace(
    'export const handler = chain',
    'const original = chain',
  );
  const types = 'event: Parameters<typeof original>[0], context: Parameters<typeof original>[1]';
  return {
    directory,
    /**
     * Commits a release, in which every function differs from those of other releases, and `fallback` gives
     * another response. Returns the commit.
     */
    commit: async (name: string, response = responses.good(name)) => {
      git('switch', '--quiet', 'main');
      await writeFile(
        file,
        `${original}\nexport const handler = async (${types}) => {\n  const response = await original(event, context);\n  return ${response};\n};\n`,
      );
      for (const functionName of functionNames) {
        const path = join(directory, 'functions', `${bundleName(functionName)}.ts`);
        await appendFile(path, `process.env['RELEASE'] = '${name}';\n`);
      }
      git('commit', '--quiet', '--all', '--message', name);
      return git('rev-parse', 'HEAD');
    },
    switchTo: (commit: string) => git('switch', '--quiet', '--detach', commit),
  };
};

/** Waits until a release responds. API Gateway and Lambda take a moment, and may drop a connection. */
const expectRelease = async (baseAddress: string, name: string) => {
  const isAnswering = () =>
    sendTo(baseAddress, { path: '/nowhere' }).then(
      ({ headers }) => headers['x-release'] === name,
      () => false,
    );
  for (let seconds = 0; seconds < 60; seconds += 1) {
    if (await isAnswering()) return;
    await pause(1_000);
  }
  throw new Error(`The release ${name} does not respond`);
};

/**
 * Rehearses releases on a personal stage: good ones, one that its check refuses, one that the smoke test
 * finds to be bad, and going back. It first removes an interrupted run.
 */
const run = async () => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-rehearsal-'));
  if (isEmulator)
    console.log(
      'LEFT OUT, because MiniStack lacks it: firewall, alarms, probe, check before traffic and canary.',
    );
  await removeStage();
  try {
    await rehearse(temporary.path);
  } finally {
    await removeStage();
  }
};

const rehearse = async (root: string) => {
  const repository = await makeRepository(join(root, 'repository'));
  const deploy = npmRun('deploy', ...ofStage, '--yes');
  const smoke = npmRun('smoke', ...ofStage);
  const expectCommits = async (commit: string, previousCommit: string) => {
    const found = await openStage(stage);
    if (found.commit !== commit || found.previousCommit !== previousCommit)
      throw new Error(`The stack has ${found.commit}, and ${found.previousCommit} before it`);
  };

  succeed(['cdk', 'bootstrap', ...contextOfStage]);
  const first = await repository.commit('first');
  // A first creation can fail by chance, such as when Lambda does not know a new role yet.
  const printed =
    outputOf(deploy, repository.directory) ?? outputOf(deploy, repository.directory) ?? '';
  if (!isEmulator) succeed(npmRun('keys', 'issue', '--for-probe', ...ofStage));
  const baseAddress = (await openStage(stage)).outputOf('BaseAddress');
  await expectRelease(baseAddress, 'first');
  runRequests(printed, issueKey());
  succeed(npmRun('acceptance', ...ofStage));
  succeed(deploy, repository.directory);
  await expectCommits(first, 'unknown');

  const second = await repository.commit('second');
  succeed(synthesisOf(join(root, 'stacks')), repository.directory);
  succeed([...deploy, '--app', join(root, 'stacks')], repository.directory);
  await expectRelease(baseAddress, 'second');
  await expectCommits(second, first);
  succeed(['cdk', 'diff', stack, '--fail', '--app', join(root, 'stacks')]);

  if (isEmulator)
    console.log('LEFT OUT: a release that its check refuses. MiniStack has no CodeDeploy.');
  else {
    await repository.commit('refused', responses.wrong);
    failAsExpected(deploy, 'the check before traffic refuses it', repository.directory);
    await expectRelease(baseAddress, 'second');
    await expectCommits(second, first);
  }

  const bad = await repository.commit('bad', responses.wrongAtRoot);
  succeed(deploy, repository.directory);
  await expectCommits(bad, second);
  failAsExpected(smoke, 'the release gives a wrong response at the root');
  repository.switchTo(second);
  succeed([...deploy, '--revert'], repository.directory);
  await expectRelease(baseAddress, 'second');
  await expectCommits(second, 'unknown');
  succeed(smoke);
  succeed(npmRun('status', ...ofStage));
};

const contextOfStage = [
  ...['--context', `stage=${rehearsal.name}`],
  ...(isEmulator ? ['--context', 'emulator=true'] : []),
];

const synthesisOf = (folder: string) => [
  ...['cdk', 'synth', '--quiet', '--output', folder],
  ...contextOfStage,
];

/** Deletes the stage with its parameters, if there is one. Throws if anything of it is left. */
const removeStage = async () => {
  const account = await openAccount(stage);
  const found = await findStack(stage, account);
  if (found) {
    succeed(['cdk', 'destroy', '--force', ...contextOfStage]);
    const Names = [probeKeyParameter(rehearsal)];
    await account.clients.ssm.send(new DeleteParametersCommand({ Names }));
  }
  const left = [
    ...(await resourcesLeft(account, found?.id)),
    ...(await logsLeft()),
    ...(await parametersLeft(account)),
  ];
  if (left.length > 0) throw new Error(`This is left of ${stack}: ${left.join(', ')}`);
  console.log(`Nothing is left of ${stack}.`);
};

/** The resources of a deleted stack that still exist. The versions of a function are deleted with it. */
const resourcesLeft = async (
  { clients }: OpenedAccount,
  StackName: string | undefined,
): Promise<string[]> => {
  if (StackName === undefined) return [];
  const client = clients.cloudformation;
  const pages = paginateListStackResources({ client }, { StackName });
  const found = await Array.fromAsync(pages);
  return found
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .filter(({ ResourceStatus }) => ResourceStatus !== 'DELETE_COMPLETE')
    .filter(({ ResourceType }) => ResourceType !== 'AWS::Lambda::Version')
    .map(({ ResourceType, PhysicalResourceId }) => `${ResourceType} ${PhysicalResourceId}`);
};

const logsLeft = async (): Promise<string[]> => {
  const prefixes = [stack, `/aws/lambda/${stack}`, `aws-waf-logs-${serviceName(rehearsal)}`];
  const client = new CloudWatchLogsClient(awsConfig(stage));
  const pages = prefixes.map((logGroupNamePrefix) =>
    Array.fromAsync(paginateDescribeLogGroups({ client }, { logGroupNamePrefix })),
  );
  const found = (await Promise.all(pages)).flat().flatMap(({ logGroups = [] }) => logGroups);
  return found.map(({ logGroupName }) => `the log ${logGroupName}`);
};

const parametersLeft = async ({ clients }: OpenedAccount): Promise<string[]> => {
  const get = new GetParametersCommand({ Names: [probeKeyParameter(rehearsal)] });
  const { Parameters = [] } = await clients.ssm.send(get);
  return Parameters.map(({ Name }) => `the parameter ${Name}`);
};

/** Issues an API key of the stage, and does not print it, because a workflow's log is public. */
const issueKey = (): string => {
  const issue = ['issue', '--owner', 'rehearsal', '--json', ...ofStage];
  const [npm = '', ...words] = npmRun('keys', ...issue);
  const issued = execFileSync(npm, words, { cwd: projectDirectory, encoding: 'utf8' });
  const { apiKey }: { apiKey: string } = JSON.parse(issued);
  return apiKey;
};

/** Sends the requests that the first deployment prints, as its reader does. */
const runRequests = (printed: string, apiKey: string) => {
  const requests = printed.match(/^curl .*$/gm) ?? [];
  if (requests.length !== 2) throw new Error(`The deployment printed ${requests.length} requests`);
  process.env['API_KEY'] = apiKey;
  for (const request of requests)
    succeed(['bash', '-c', `${request} --silent --show-error --fail`]);
  delete process.env['API_KEY'];
};

program
  .name('npm run e2e:deploy --')
  .description('Rehearses releases on a personal stage, and then deletes the stage.')
  .action(() => change(run));
await runProgram(program);

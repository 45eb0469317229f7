import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFile,
  mkdir,
  mkdtempDisposable,
  readFile,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs';
import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { program } from 'commander';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { goodReleases } from '../../infra/commands/deploy/good-releases.ts';
import { openStage } from '../../infra/commands/keys/stage-keys.ts';
import { fail, shellWord } from '../../infra/commands/terminal.ts';
import {
  bundleName,
  functionNames,
  probeKeyParameter,
  releaseParameter,
  serviceName,
  stackName,
} from '../../infra/settings/names.ts';
import { emulated, rehearsal } from '../../infra/settings/stages.ts';
import { copySources } from '../support/copy-sources.ts';
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
const outputOf = ([command = '', ...words]: readonly string[]) => {
  console.log(`\n$ ${[command, ...words].map(shellWord).join(' ')}`);
  const { status, stdout } = spawnSync(command, words, {
    cwd: projectDirectory,
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  return status === 0 ? stdout : undefined;
};

const failAsExpected = (command: readonly string[], why: string) => {
  if (exitCodeOf(command) === 0) throw new Error(`${command.join(' ')} succeeded: ${why}`);
  console.log(`As expected, this failed: ${why}`);
};

const cloudformation = new CloudFormationClient();

const findStack = async (StackName: string) => {
  try {
    const command = new DescribeStacksCommand({ StackName });
    return (await cloudformation.send(command)).Stacks?.[0];
  } catch (error) {
    if (error instanceof Error && error.message.endsWith('does not exist')) return undefined;
    throw error;
  }
};

/** Whether CloudFormation is at work on the stage. A stack under review waits for its first change set. */
const isBusy = async () => {
  const status = (await findStack(stack))?.StackStatus ?? '';
  return status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS';
};

/** Tries something until it succeeds. Throws after a number of seconds. */
const waitFor = async (what: string, seconds: number, tries: () => boolean | Promise<boolean>) => {
  const deadline = Date.now() + seconds * 1_000;
  while (!(await tries())) {
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} s for ${what}`);
    await pause(Math.min(seconds * 10, 10_000));
  }
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

/**
 * Synthesises a release into a folder of `root`, from a copy of the project in which every function differs
 * from those of other releases, and `fallback` gives another response. Returns the folder.
 */
const synthesise = async (root: string, name: string, response: string) => {
  const directory = join(root, name);
  await copySources(directory);
  await symlink(join(projectDirectory, 'node_modules'), join(directory, 'node_modules'));
  for (const functionName of functionNames) {
    const path = join(directory, 'functions', `${bundleName(functionName)}.ts`);
    await appendFile(path, `process.env['RELEASE'] = '${name}';\n`);
  }
  const file = join(directory, 'functions/fallback.ts');
  const source = await readFile(file, 'utf8');
  const changed = source.replace('export const handler = chain', 'const original = chain');
  if (changed === source) throw new Error(`${file} has another form`);
  const types = 'event: Parameters<typeof original>[0], context: Parameters<typeof original>[1]';
  await writeFile(
    file,
    `${changed}\nexport const handler = async (${types}) => {\n  const response = await original(event, context);\n  return ${response};\n};\n`,
  );
  const context = ['--context', `stage=${rehearsal.name}`];
  if (isEmulator) context.push('--context', 'emulator=true');
  const folder = join(directory, 'stacks');
  // The CDK's own rules take longer than the rest, and find the same in each release.
  const quick = ['--quiet', '--no-validation'];
  succeed(['cdk', 'synth', ...quick, '--output', folder, ...context], directory);
  return folder;
};

/** Makes the commit of a release, in a repository that the deployments read, and returns it. */
const makeCommit = (name: string): string => {
  const author = { name: 'rehearsal', email: 'rehearsal@store.test' };
  const config = Object.entries(author).flatMap(([key, value]) => ['-c', `user.${key}=${value}`]);
  succeed(['git', ...config, 'commit', '--quiet', '--allow-empty', '--message', name]);
  return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
};

const npmRunDeploy = (...words: readonly string[]) => npmRun('deploy', ...ofStage, ...words);
const deploy = (folder: string) => npmRunDeploy('--app', folder, '--yes');
const record = (commit: string) => npmRunDeploy('--record', '--if-commit', commit);
const goBack = (...words: readonly string[]) => npmRunDeploy('--back', '--yes', ...words);

/** Waits until a release responds. API Gateway and Lambda take a moment, and may drop a connection. */
const expectRelease = async (baseAddress: string, name: string) => {
  const isAnswering = () =>
    sendTo(baseAddress, { path: '/nowhere' }).then(
      ({ headers }) => headers['x-release'] === name,
      () => false,
    );
  await waitFor(`the release ${name}`, 60, isAnswering);
};

/**
 * Rehearses releases on a personal stage: good ones, one that its check refuses, one that the smoke test
 * finds to be bad, and going back. It first removes an interrupted run.
 */
const run = async (keep: boolean) => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-rehearsal-'));
  const root = temporary.path;
  if (isEmulator) announceLeftOut();
  await removeStage();
  try {
    await rehearse(root);
  } finally {
    if (!keep) await removeStage();
  }
};

const rehearse = async (root: string) => {
  process.env['GIT_DIR'] = join(root, '.git');
  // The commits have no files, so the project's own would be uncommitted.
  process.env['GIT_WORK_TREE'] = join(root, 'work-tree');
  await mkdir(process.env['GIT_WORK_TREE']);
  succeed(['git', 'init', '--quiet']);
  /** Deploys a release, and returns its commit. */
  const release = async (name: string, response = responses.good(name)) => {
    const folder = await synthesise(root, name, response);
    const commit = makeCommit(name);
    succeed(deploy(folder));
    return commit;
  };

  const first = {
    folder: await synthesise(root, 'first', responses.good('first')),
    commit: makeCommit('first'),
  };
  // A first creation can fail by chance, such as when Lambda does not know a new role yet.
  const printed = outputOf(deploy(first.folder)) ?? outputOf(deploy(first.folder)) ?? '';
  succeed(npmRun('keys', 'issue', '--for-probe', ...ofStage));
  const { baseAddress } = await openStage(stage);
  await expectRelease(baseAddress, 'first');
  runRequests(printed);
  succeed(npmRun('acceptance', ...ofStage));
  succeed(['cdk', 'diff', stack, '--fail', '--app', first.folder]);
  succeed(deploy(first.folder));
  succeed(record(first.commit));

  const smoke = npmRun('smoke', ...ofStage);
  /** Waits until a release responds, and expects these good releases. */
  const expectGood = async (...good: readonly { commit: string; name: string }[]) => {
    await expectRelease(baseAddress, `${good.at(-1)?.name}`);
    succeed(smoke);
    const found = (await goodReleases(stage)).map(({ commit }) => commit);
    const commits = good.map(({ commit }) => commit);
    if (!isDeepStrictEqual(found, commits))
      throw new Error(`The good releases are ${found}, and not ${commits}`);
  };
  const releaseGood = async (name: string) => {
    const commit = await release(name);
    succeed(smoke);
    succeed(record(commit));
    return { commit, name };
  };
  const one = { ...first, name: 'first' };
  await expectGood(one);
  const two = await releaseGood('second');
  await expectGood(one, two);

  if (isEmulator)
    console.log('LEFT OUT: a release that its check refuses. MiniStack has no CodeDeploy.');
  else {
    const refused = await synthesise(root, 'refused', responses.wrong);
    failAsExpected(deploy(refused), 'the check before traffic refuses the release');
    await expectRelease(baseAddress, 'second');
  }

  const bad = await release('bad', responses.wrongAtRoot);
  failAsExpected(smoke, 'the release gives a wrong response at the root');
  succeed(goBack('--if-commit', bad));
  await expectGood(one, two);
  failAsExpected(goBack('--if-commit', bad), 'the stage has left this release already');

  const three = await releaseGood('third');
  await expectGood(one, two, three);
  succeed(goBack());
  await expectGood(one, two);
  succeed(goBack());
  await expectGood(one);
  failAsExpected(goBack(), 'there is no earlier release');
  const four = await releaseGood('fourth');
  await expectGood(one, four);
};

/** Deletes the stage with its parameters, if there is one. Throws if anything of it is left. */
const removeStage = async () => {
  const found = await findStack(stack);
  if (found) {
    await waitFor('the end of an interrupted deployment', 7_200, async () => !(await isBusy()));
    succeed(npmRun('destroy', '--yes', ...ofStage));
  }
  failAsExpected(npmRun('destroy', '--yes', ...ofStage), 'there is no such stage');
  const left = [
    ...(await resourcesLeft(found?.StackId)),
    ...(await logsLeft()),
    ...(await parametersLeft()),
  ];
  if (left.length > 0) throw new Error(`This is left of ${stack}: ${left.join(', ')}`);
  console.log(`Nothing is left of ${stack}.`);
};

/** The resources of a deleted stack that still exist. The versions of a function are deleted with it. */
const resourcesLeft = async (StackName: string | undefined): Promise<string[]> => {
  if (StackName === undefined) return [];
  const pages = paginateListStackResources({ client: cloudformation }, { StackName });
  const found = await Array.fromAsync(pages);
  return found
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .filter(({ ResourceStatus }) => ResourceStatus !== 'DELETE_COMPLETE')
    .filter(({ ResourceType }) => ResourceType !== 'AWS::Lambda::Version')
    .map(({ ResourceType, PhysicalResourceId }) => `${ResourceType} ${PhysicalResourceId}`);
};

const logsLeft = async (): Promise<string[]> => {
  const prefixes = [stack, `/aws/lambda/${stack}`, `aws-waf-logs-${serviceName(rehearsal)}`];
  const client = new CloudWatchLogsClient();
  const pages = prefixes.map((logGroupNamePrefix) =>
    Array.fromAsync(paginateDescribeLogGroups({ client }, { logGroupNamePrefix })),
  );
  const found = (await Promise.all(pages)).flat().flatMap(({ logGroups = [] }) => logGroups);
  return found.map(({ logGroupName }) => `the log ${logGroupName}`);
};

const parametersLeft = async (): Promise<string[]> => {
  const Names = [probeKeyParameter(rehearsal), releaseParameter(rehearsal)];
  const { Parameters = [] } = await new SSMClient().send(new GetParametersCommand({ Names }));
  return Parameters.map(({ Name }) => `the parameter ${Name}`);
};

/** Prints the settings of the stage that are left out on the emulator; `emulated` gives the reasons. */
const announceLeftOut = () => {
  const deployed = new Map(Object.entries(stage));
  const leftOut = Object.entries(rehearsal).flatMap(([name, value]) =>
    isDeepStrictEqual(deployed.get(name), value) ? [] : name,
  );
  console.log(`LEFT OUT, because MiniStack lacks it: ${leftOut.join(', ')} of ${rehearsal.name}.`);
  console.log('LEFT OUT: code caches, because MiniStack runs no functions for arm64.');
};

/** Sends the requests that the first deployment prints, as its reader does. */
const runRequests = (printed: string) => {
  const requests = printed.match(/^curl .*$/gm) ?? [];
  if (requests.length !== 2) throw new Error(`The deployment printed ${requests.length} requests`);
  for (const request of requests)
    succeed(['bash', '-c', `${request} --silent --show-error --fail`]);
};

await program
  .name('npm run e2e:deploy --')
  .description('Rehearses releases on a personal stage, and then deletes the stage.')
  .option('--keep', 'keep the stage at the end, until the next run')
  .action(({ keep }: { keep?: true }) => run(keep === true))
  .parseAsync()
  .catch(fail);

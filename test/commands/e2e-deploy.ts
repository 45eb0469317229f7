import { spawnSync } from 'node:child_process';
import { cp, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DeleteParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { program } from 'commander';
import { fail } from '../../infra/message-of.ts';
import {
  accountStackId,
  accountStackName,
  probeKeyParameter,
  stackName,
} from '../../infra/names.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { emulated, staging } from '../../infra/stages.ts';
import { sendTo } from '../support/http-client.ts';

const stack = stackName(staging);
process.env['CDK_DISABLE_CLI_TELEMETRY'] = 'true';

/** The address of an emulator. Without it, the stage is deployed to the account of the credentials. */
const emulator = process.env['AWS_ENDPOINT_URL'];
const stage = emulator === undefined ? staging : emulated(staging);
const { environment } = stage;
// Every command below would otherwise look for the stack in the region of the caller.
if (environment) process.env['AWS_REGION'] = environment.region;
const addresses = environment ? [`aws://${environment.account}/${environment.region}`] : [];

const context = emulator === undefined ? [] : ['--context', 'emulator=true'];
const ofStage = ['--stage', 'staging', ...(emulator === undefined ? [] : ['--emulator'])];
const npmRun = (script: string, ...words: readonly string[]) => [
  ...['npm', 'run', '--silent', script, '--'],
  ...words,
];
const deploy = (name: string, ...words: readonly string[]) =>
  npmRun('deploy', name, '--require-approval', 'never', ...context, ...words);
const diff = npmRun('diff', stack, '--fail', ...context);

/** Runs a command, shows its output, and returns its exit code. */
const exitCodeOf = ([command = '', ...words]: readonly string[], cwd = projectDirectory) => {
  console.log(`\n$ ${[command, ...words].join(' ')}`);
  return spawnSync(command, words, { cwd, stdio: 'inherit' }).status;
};

const succeed = (command: readonly string[], directory?: string) => {
  const exitCode = exitCodeOf(command, directory);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}`);
};

const findStack = async (StackName: string) => {
  try {
    const command = new DescribeStacksCommand({ StackName });
    return (await new CloudFormationClient().send(command)).Stacks?.[0];
  } catch (error) {
    if (error instanceof Error && error.message.endsWith('does not exist')) return undefined;
    throw error;
  }
};

/** Tries something until it succeeds. Throws after a number of seconds. */
const waitFor = async (what: string, seconds: number, tries: () => boolean | Promise<boolean>) => {
  const deadline = Date.now() + seconds * 1_000;
  while (!(await tries())) {
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} s for ${what}`);
    await pause(seconds * 10);
  }
};

/**
 * Deploys staging, runs the acceptance tests, deploys it again without a change and with one, and destroys
 * it. Never destroys what was there before: it refuses to begin, or updates and keeps staging with `--keep`.
 */
const run = async (keep: boolean) => {
  if (!keep && (await findStack(stack))) {
    throw new Error(
      `${stack} exists, and would be destroyed. Add -- --keep to update and keep it.`,
    );
  }
  if (emulator !== undefined) announceLeftOut();
  if (!(await findStack('CDKToolkit'))) succeed(['cdk', 'bootstrap', ...addresses, ...context]);
  if (!(await findStack(accountStackName))) succeed(deploy(accountStackId(stage)));
  try {
    succeed(deploy(stack));
    succeed(npmRun('keys', 'issue', '--for-probe', ...ofStage));
    const baseAddress = await deployedAddress();
    runAcceptanceTests(baseAddress);
    // AWS has asked each addressee to confirm, and the next deployment checks it.
    if (emulator === undefined) {
      const preflight = npmRun('preflight', ...ofStage);
      await waitFor('the preflight of staging', 1_800, () => exitCodeOf(preflight) === 0);
    }
    succeed(diff);
    succeed(deploy(stack));
    if (!keep) await deployChangedHandler(baseAddress);
  } finally {
    if (!keep) {
      succeed(['cdk', 'destroy', '--force', stack, ...context]);
      await forgetProbeKey();
    }
  }
};

/** Deletes the API key of the probe. The next staging would take it for a key of its own. */
const forgetProbeKey = async () => {
  const command = new DeleteParameterCommand({ Name: probeKeyParameter(staging) });
  await new SSMClient().send(command).catch((error: unknown) => {
    if (!(error instanceof ParameterNotFound)) throw error;
  });
};

/** Prints the settings of staging that are left out on the emulator; `emulated` gives the reasons. */
const announceLeftOut = () => {
  const deployed = new Map(Object.entries(stage));
  const leftOut = Object.entries(staging).flatMap(([name, value]) =>
    isDeepStrictEqual(deployed.get(name), value) ? [] : name,
  );
  console.log(`LEFT OUT, because MiniStack lacks it: ${leftOut.join(', ')} of staging.`);
};

/** Returns the address that the stack gives. An emulator serves the same API under a host name of its own. */
const deployedAddress = async (): Promise<string> => {
  const outputs = (await findStack(stack))?.Outputs ?? [];
  const address = outputs.find(({ OutputKey }) => OutputKey === 'BaseAddress')?.OutputValue ?? '';
  if (emulator === undefined) return address;
  const { hostname, pathname } = new URL(address);
  const { protocol, port } = new URL(emulator);
  return `${protocol}//${hostname.split('.')[0]}.execute-api.localhost:${port}${pathname}`;
};

const runAcceptanceTests = (baseAddress: string) => {
  process.env['BASE_URL'] = baseAddress;
  if (emulator === undefined) return succeed(npmRun('acceptance', ...ofStage));
  console.log(
    'LEFT OUT: more than 8 requests at once. MiniStack needs a process of 70 MB for each.',
  );
  process.env['PARALLEL_REQUESTS'] = '8';
  console.log('LEFT OUT: the header x-amz-apigw-id, which MiniStack does not send.');
  process.env['LEFT_OUT_HEADERS'] = 'x-amz-apigw-id';
  succeed(npmRun('acceptance', ...ofStage, '--no-file-parallelism'));
};

/** Deploys a copy of the project in which one handler is another, and waits until that one answers. */
const deployChangedHandler = async (baseAddress: string) => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-changed-'));
  const directory = temporary.path;
  await cp(projectDirectory, directory, {
    recursive: true,
    filter: (path) => !/^(\.|node_modules|cdk\.out)/.test(relative(projectDirectory, path)),
  });
  await symlink(join(projectDirectory, 'node_modules'), join(directory, 'node_modules'));
  const body = 'The changed handler';
  await writeFile(
    join(directory, 'functions/unrouted.ts'),
    `export const handler = async () => ({ statusCode: 404, body: '${body}' });`,
  );
  if (exitCodeOf(diff, directory) === 0) throw new Error('cdk diff saw no change');
  // The check before traffic would refuse this handler.
  succeed(deploy(stack, '--context', 'canary=off'), directory);
  const answer = async () => (await sendTo(baseAddress, { path: '/nowhere' })).text;
  await waitFor('the changed handler', 60, async () => (await answer()) === body);
};

await program
  .name('npm run e2e:deploy --')
  .description('Deploys staging, tests it over HTTP, deploys it again, and destroys it.')
  .option('--keep', 'update staging where it exists, and keep it')
  .action(({ keep }: { keep?: true }) => run(keep === true))
  .parseAsync()
  .catch(fail);

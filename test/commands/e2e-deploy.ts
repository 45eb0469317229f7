import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DeleteParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { program } from 'commander';
import { messageOf } from '../../infra/message-of.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import {
  accountStackName as accountStack,
  accountStackId,
  emulated,
  probeKeyParameter,
  stackName,
  staging,
} from '../../infra/stages.ts';
import { sendTo } from '../support/http-client.ts';

const stack = stackName(staging);
process.env['CDK_DISABLE_CLI_TELEMETRY'] = 'true';

/** The address of an emulator; without it, the account is meant to which the credentials lead. */
const emulator = process.env['AWS_ENDPOINT_URL'];
const environment = emulator === undefined ? staging.environment : undefined;
// Every command below would otherwise look for the stack in the region of the caller.
if (environment) process.env['AWS_REGION'] = environment.region;
const addresses = environment ? [`aws://${environment.account}/${environment.region}`] : [];

/**
 * Deploys staging, runs the acceptance tests, deploys it again without a change and with one, and destroys it. Never
 * destroys what was there before: it refuses to begin, or updates and keeps staging with `--keep`.
 */
const run = async (keep: boolean) => {
  if (!keep && (await findStack(stack))) {
    throw new Error(
      `${stack} exists, and would be destroyed. Add -- --keep to update and keep it.`,
    );
  }
  if (emulator !== undefined) announceLeftOut();
  if (!(await findStack('CDKToolkit'))) await succeed(cdk('bootstrap', ...addresses));
  if (!(await findStack(accountStack))) await succeed(deploy(accountStackId({ environment })));
  try {
    await succeed(deploy(stack));
    await succeed([...keys, 'issue', '--for-probe', ...ofStaging]);
    const baseAddress = await deployedAddress();
    await runAcceptanceTests(baseAddress);
    if (emulator === undefined) await confirmations();
    await succeed(diff);
    await succeed(deploy(stack));
    if (!keep) await deployChangedHandler(baseAddress);
  } finally {
    if (!keep) {
      await succeed(cdk('destroy', '--force', stack));
      await forgetProbeKey();
    }
  }
};

/** AWS has asked each addressee to confirm, and the next deployment checks it. Tries for half an hour. */
const confirmations = async () => {
  for (let tries = 0; tries < 60; tries += 1) {
    if ((await exitCodeOf(preflight)) === 0) return;
    await pause(30_000);
  }
  throw new Error('The preflight of staging still fails.');
};

/** The next staging would take it for a key of its own. */
const forgetProbeKey = async () => {
  try {
    await new SSMClient().send(new DeleteParameterCommand({ Name: probeKeyParameter(staging) }));
  } catch (error) {
    if (!(error instanceof ParameterNotFound)) throw error;
  }
};

/** Prints the settings of staging that are left out on the emulator; `emulated` gives the reasons. */
const announceLeftOut = () => {
  const deployed = new Map(Object.entries(emulated(staging)));
  const leftOut = Object.entries(staging)
    .filter(([name, value]) => !isDeepStrictEqual(deployed.get(name), value))
    .map(([name]) => name);
  console.log(`LEFT OUT, because MiniStack lacks it: ${leftOut.join(', ')} of staging.`);
};

const context = ['--context', emulator === undefined ? 'placeholders=allowed' : 'emulator=true'];
const cdk = (...words: readonly string[]) => ['cdk', ...words, ...context];
const deploy = (name: string) => [
  ...['npm', 'run', 'deploy', '--', name, '--require-approval', 'never'],
  ...context,
];
const keys = ['npm', 'run', '--silent', 'keys', '--'];
const ofStaging = ['--stage', 'staging', ...(emulator === undefined ? [] : ['--emulator'])];
const preflight = ['npm', 'run', '--silent', 'preflight', '--', ...ofStaging];
const diff = ['npm', 'run', 'diff', '--', stack, '--fail', ...context];

/** Runs a command for all to see, and gives its exit code. */
const exitCodeOf = async (
  [command = '', ...words]: readonly string[],
  directory = projectDirectory,
): Promise<unknown> => {
  console.log(`\n$ ${[command, ...words].join(' ')}`);
  const child = spawn(command, words, { cwd: directory, stdio: 'inherit' });
  const [exitCode] = await once(child, 'exit');
  return exitCode;
};

const succeed = async (command: readonly string[], directory?: string) => {
  const exitCode = await exitCodeOf(command, directory);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}`);
};

const findStack = async (StackName: string) => {
  try {
    const { Stacks } = await new CloudFormationClient().send(
      new DescribeStacksCommand({ StackName }),
    );
    return Stacks?.[0];
  } catch (error) {
    if (error instanceof Error && error.message.endsWith('does not exist')) return undefined;
    throw error;
  }
};

/** The address that the stack gives. An emulator serves the same API under a host name of its own. */
const deployedAddress = async (): Promise<string> => {
  const outputs = (await findStack(stack))?.Outputs ?? [];
  const address = outputs.find(({ OutputKey }) => OutputKey === 'BaseAddress')?.OutputValue ?? '';
  if (emulator === undefined) return address;
  const { hostname, pathname } = new URL(address);
  const { protocol, port } = new URL(emulator);
  return `${protocol}//${hostname.split('.')[0]}.execute-api.localhost:${port}${pathname}`;
};

const runAcceptanceTests = async (baseAddress: string) => {
  const [npm = '', ...words] = keys;
  const issue = ['issue', '--owner', 'e2e', '--expires-in', '1h', '--json', ...ofStaging];
  const { stdout } = await promisify(execFile)(npm, [...words, ...issue], {
    cwd: projectDirectory,
  });
  Object.assign(process.env, { BASE_URL: baseAddress, API_KEY: JSON.parse(stdout).apiKey });
  const tests = ['npm', 'run', 'acceptance'];
  if (emulator === undefined) return succeed(tests);
  console.log(
    'LEFT OUT: more than 8 requests at once. MiniStack needs a process of 70 MB for each.',
  );
  process.env['PARALLEL_REQUESTS'] = '8';
  return succeed([...tests, '--', '--no-file-parallelism']);
};

/** Deploys a copy of the project in which one handler is another, and waits until that one answers. */
const deployChangedHandler = async (baseAddress: string) => {
  const directory = await mkdtemp(join(tmpdir(), 'animal-store-changed-'));
  try {
    await cp(projectDirectory, directory, {
      recursive: true,
      filter: (path) => !/^(\.|node_modules|cdk\.out)/.test(relative(projectDirectory, path)),
    });
    await symlink(join(projectDirectory, 'node_modules'), join(directory, 'node_modules'));
    const reply = { statusCode: 404, body: 'The changed handler' };
    await writeFile(
      join(directory, 'functions/unrouted.ts'),
      `export const handler = async () => (${JSON.stringify(reply)});`,
    );
    if ((await exitCodeOf(diff, directory)) === 0) throw new Error('cdk diff saw no change');
    // The check before traffic would refuse this handler.
    await succeed([...deploy(stack), '--context', 'canary=off'], directory);
    await waitForText(baseAddress, reply.body);
  } finally {
    await rm(directory, { recursive: true });
  }
};

const waitForText = async (baseAddress: string, expected: string) => {
  const deadline = Date.now() + 60_000;
  while ((await sendTo(baseAddress, { path: '/nowhere' })).text !== expected) {
    if (Date.now() > deadline) throw new Error('The changed handler is deployed, but not live');
    await pause(500);
  }
};

program
  .name('npm run e2e:deploy --')
  .description('Deploys staging, tests it over HTTP, deploys it again, and destroys it.')
  .option('--keep', 'update staging where it exists, and keep it')
  .action(({ keep }: { keep?: true }) => run(keep === true));

try {
  await program.parseAsync();
} catch (error) {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
}

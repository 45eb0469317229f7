import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { lossesOf, readChanges } from '../change-set.ts';
import { accountStackId, accountStackName, type Stage, stackName, stages } from '../stages.ts';

const words = process.argv.slice(2);
const isEmulator = words.includes('emulator=true');

interface Target {
  readonly stage: Stage;
  readonly stack: string;
  readonly preflight: readonly string[];
}

/** The stacks of each stage, by what the CDK's commands call them. */
const targets = new Map<string, Target>(
  Object.values(stages).flatMap((stage): [string, Target][] => [
    [stackName(stage), { stage, stack: stackName(stage), preflight: [] }],
    [
      isEmulator ? accountStackName : accountStackId(stage),
      { stage, stack: accountStackName, preflight: ['--account-stack'] },
    ],
  ]),
);
const options = words.filter((word) => !targets.has(word));
const { values: given } = parseArgs({
  args: options,
  options: {
    method: { type: 'string', short: 'm' },
    'outputs-file': { type: 'string', short: 'O' },
  },
  strict: false,
});

/** Runs a command for all to see, and ends with its exit code when it fails. */
const run = (command: string, ...given: readonly string[]) => {
  const { status, error } = spawnSync(command, given, {
    stdio: 'inherit',
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

const fail = (message: string) => {
  console.error(`error: ${message}`);
  process.exit(1);
};

/** Creates a change set, and executes exactly this one if it keeps the tables and the API. */
const deployChecked = async (id: string, { stage, stack }: Target, context: readonly string[]) => {
  const changeSet = ['--change-set-name', `npm-run-deploy-${randomUUID()}`] as const;
  run('cdk', 'deploy', id, ...options, ...context, '--method', 'prepare-change-set', ...changeSet);
  const client = new CloudFormationClient(
    stage.environment && !isEmulator ? { region: stage.environment.region } : {},
  );
  const changes = await readChanges(client, stack, changeSet[1]);
  if (changes.length === 0) return;
  const losses = lossesOf(changes);
  if (losses.length > 0)
    fail(`${losses.join('\nerror: ')} See "Replace a table" in infra/README.md.`);
  const file = given['outputs-file'];
  const outputs = typeof file === 'string' ? ['--outputs-file', file] : [];
  // From cdk.out, which the first command has written: nothing is synthesised, or asked, twice.
  const execute = ['--app', 'cdk.out', '--method', 'execute-change-set', ...changeSet];
  run('cdk', 'deploy', id, ...execute, '--require-approval', 'never', ...outputs);
};

const named = words.flatMap((id) => {
  const target = targets.get(id);
  return target ? [[id, target] as const] : [];
});
if (named.length === 0) fail(`Name a stack: ${[...targets.keys()].join(', ')}.`);
for (const [id, target] of named) {
  const { name } = target.stage;
  run(
    process.execPath,
    'infra/commands/preflight.ts',
    ...['--stage', name, ...target.preflight, ...(isEmulator ? ['--emulator'] : [])],
  );
  // The app always contains prod.
  const context = id === stackName(stages.prod) ? [] : ['--context', 'placeholders=allowed'];
  if (given.method === undefined) await deployChecked(id, target, context);
  else run('cdk', 'deploy', id, ...options, ...context);
}

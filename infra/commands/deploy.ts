import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  type Change,
  CloudFormationClient,
  paginateDescribeChangeSet,
} from '@aws-sdk/client-cloudformation';
import { lossesOf } from '../change-set.ts';
import { messageOf } from '../message-of.ts';
import {
  accountStackId,
  accountStackName,
  regionOf,
  type Stage,
  stackName,
  stages,
} from '../stages.ts';

const words = process.argv.slice(2);
const isEmulator = words.includes('emulator=true');

/** The id of each stack in the CDK's commands, with its stage, in the order of deployment. */
const targets = new Map(
  Object.values(stages).flatMap((stage) => [
    [isEmulator ? accountStackName : accountStackId(stage), stage] as const,
    [stackName(stage), stage] as const,
  ]),
);
const options = words.filter((word) => !targets.has(word));
const outputsAt = options.indexOf('--outputs-file');
const outputs = outputsAt < 0 ? [] : options.slice(outputsAt, outputsAt + 2);

/** Runs a command and shows its output. If the command fails, exits with its exit code. */
const run = (command: string, ...given: readonly string[]) => {
  const { status, error } = spawnSync(command, given, {
    stdio: 'inherit',
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

/** Creates a change set, and executes exactly this one. Throws if it would replace or remove a table or the API. */
const deploy = async (id: string, StackName: string, stage: Stage) => {
  // The app always contains prod, so other stages must accept the placeholders of prod.
  const context = id === stackName(stages.prod) ? [] : ['--context', 'placeholders=allowed'];
  const ChangeSetName = `npm-run-deploy-${randomUUID()}`;
  const changeSet = ['--change-set-name', ChangeSetName];
  run('cdk', 'deploy', id, ...options, ...context, '--method', 'prepare-change-set', ...changeSet);

  const client = new CloudFormationClient(isEmulator ? {} : regionOf(stage));
  const changes: Change[] = [];
  for await (const page of paginateDescribeChangeSet({ client }, { StackName, ChangeSetName })) {
    // Nothing differs. If only outputs differ, the change set has no changes but can be executed:
    // https://github.com/aws/aws-cdk/pull/2029
    if (page.ExecutionStatus !== 'AVAILABLE') return;
    changes.push(...(page.Changes ?? []));
  }
  const losses = lossesOf(changes).join('\nerror: ');
  if (losses) throw new Error(`${losses} See "Replace a table" in infra/README.md.`);

  // Uses the cdk.out that the first command wrote, so that nothing is synthesised or asked twice.
  const execute = ['--app', 'cdk.out', '--method', 'execute-change-set', ...changeSet];
  run('cdk', 'deploy', id, ...execute, '--require-approval', 'never', ...outputs);
};

try {
  if (options.length === words.length)
    throw new Error(`Name a stack: ${[...targets.keys()].join(', ')}.`);
  for (const [id, stage] of targets) {
    if (!words.includes(id)) continue;
    const isAccount = id.startsWith(accountStackName);
    const flags = [
      ...(isAccount ? ['--account-stack'] : []),
      ...(isEmulator ? ['--emulator'] : []),
    ];
    run(process.execPath, 'infra/commands/preflight.ts', '--stage', stage.name, ...flags);
    await deploy(id, isAccount ? accountStackName : id, stage);
  }
} catch (error) {
  console.error(`error: ${messageOf(error)}`);
  process.exitCode = 1;
}

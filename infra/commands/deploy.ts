import { spawnSync } from 'node:child_process';
import { accountStackId, accountStackName, type Stage, stackName, stages } from '../stages.ts';

const words = process.argv.slice(2);
const isEmulator = words.includes('emulator=true');

/** Runs a command for all to see, and ends with its exit code when it fails. */
const run = (command: string, ...given: readonly string[]) => {
  const { status, error } = spawnSync(command, given, {
    stdio: 'inherit',
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

const names = (stage: Stage) => words.includes(stackName(stage));
const namesAccountOf = (stage: Stage) =>
  words.includes(isEmulator ? accountStackName : accountStackId(stage));

/** `cdk deploy` of the stacks that are named, after the preflight of each. */
const named = Object.values(stages).filter((stage) => names(stage) || namesAccountOf(stage));
if (named.length === 0) {
  const known = Object.values(stages).flatMap((stage) => [stackName(stage), accountStackId(stage)]);
  console.error(`error: Name a stack: ${[...new Set(known)].join(', ')}.`);
  process.exit(1);
}
for (const stage of named) {
  run(
    process.execPath,
    'infra/commands/preflight.ts',
    '--stage',
    stage.name,
    ...[...(names(stage) ? [] : ['--account-stack']), ...(isEmulator ? ['--emulator'] : [])],
  );
}
// The app always contains prod.
run(
  'cdk',
  'deploy',
  ...words,
  ...(names(stages.prod) ? [] : ['--context', 'placeholders=allowed']),
);

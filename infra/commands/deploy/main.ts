import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { CloudFormationClient, paginateDescribeChangeSet } from '@aws-sdk/client-cloudformation';
import { fail } from '../../message-of.ts';
import { accountStackId, accountStackName, stackName } from '../../names.ts';
import { placeholdersIn } from '../../placeholders.ts';
import { regionOf } from '../../region-of.ts';
import { emulated, stages } from '../../stages.ts';
import { preflight } from '../preflight/preflight.ts';
import { lossesOf } from './change-set.ts';

const words = process.argv.slice(2);
const isEmulator = words.includes('emulator=true');

/** The stacks of each stage, by the ids that CDK commands use, in the order of deployment. */
const targets = new Map(
  Object.values(stages)
    .map((stage) => (isEmulator ? emulated(stage) : stage))
    .flatMap((stage) => [
      [accountStackId(stage), { stage, StackName: accountStackName }],
      [stackName(stage), { stage, StackName: stackName(stage) }],
    ]),
);
const options = words.filter((word) => !targets.has(word));
const outputsAt = options.indexOf('--outputs-file');
const outputs = outputsAt < 0 ? [] : options.slice(outputsAt, outputsAt + 2);

/** Runs `cdk deploy` and shows its output. Throws when it fails. */
const cdkDeploy = (...given: readonly string[]) => {
  execFileSync('cdk', ['deploy', ...given], { stdio: 'inherit' });
};

/** Creates a change set, and executes the same change set. Throws instead if it replaces or removes a table or the API. */
const deploy = async (id: string, StackName: string, region: { region?: string }) => {
  const ChangeSetName = `npm-run-deploy-${randomUUID()}`;
  const changeSet = ['--change-set-name', ChangeSetName];
  cdkDeploy(id, ...options, '--method', 'prepare-change-set', ...changeSet);

  const client = new CloudFormationClient(region);
  const pages = paginateDescribeChangeSet({ client }, { StackName, ChangeSetName });
  const found = await Array.fromAsync(pages);
  // Nothing differs. If only outputs differ, the change set has no changes, but is available:
  // https://github.com/aws/aws-cdk/pull/2029
  if (found[0]?.ExecutionStatus !== 'AVAILABLE') return;
  const losses = lossesOf(found.flatMap(({ Changes = [] }) => Changes)).join('\nerror: ');
  if (losses) throw new Error(`${losses} See "Replace a table" in infra/README.md.`);

  // Uses the cdk.out of the first command, so that CDK neither synthesises nor asks for approval again.
  const execute = ['--app', 'cdk.out', '--method', 'execute-change-set', ...changeSet];
  cdkDeploy(id, ...execute, '--require-approval', 'never', ...outputs);
};

const main = async () => {
  if (options.length === words.length)
    throw new Error(`Name a stack: ${[...targets.keys()].join(', ')}.`);
  for (const [id, { stage, StackName }] of targets) {
    if (!words.includes(id)) continue;
    const found = await preflight(stage, StackName === accountStackName ? 'account' : 'stage');
    const problems = [...placeholdersIn(stage), ...found];
    if (problems.length > 0) throw new Error(problems.join('\nerror: '));
    await deploy(id, StackName, regionOf(stage));
  }
};

await main().catch(fail);

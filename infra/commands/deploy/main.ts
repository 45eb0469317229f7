import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Option, program } from 'commander';
import {
  commitParameter,
  stackName,
  type TrafficShift,
  trafficParameter,
  trafficShifts,
} from '../../settings/names.ts';
import { regionOf } from '../../settings/region-of.ts';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { emulated, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { openStack } from '../deployed-stack.ts';
import { fail } from '../message-of.ts';
import { preflight } from '../preflight/preflight.ts';
import { stageOption } from '../stage-option.ts';
import { cdk } from './cdk.ts';
import { changesOf, lossesOf, mixedIndexesOf, newChangeSet, refuse } from './change-set.ts';
import { checkedOutCommit, contains } from './commit.ts';
import { goBack } from './go-back.ts';
import { recordGood, templateAddress } from './good-releases.ts';
import { deployWholeStage } from './whole-stage.ts';

interface DeployOptions {
  readonly stage?: Stage;
  readonly emulator?: true;
  readonly app?: string | undefined;
  readonly traffic: TrafficShift;
  readonly record?: true;
  readonly back?: true;
  readonly leave?: string;
  readonly yes?: true;
}

const run = async (id: string | undefined, options: DeployOptions) => {
  const { stage: only, emulator, record: records, back } = options;
  const declared = (only ? [only] : stages).map((each) => (emulator ? emulated(each) : each));
  const stage = only ? declared[0] : declared.find((each) => stackName(each) === id);
  if (!stage) throw new Error(`Name a stack: ${declared.map(stackName).join(', ')}.`);
  if (back) return goBack(stage, options);
  if (records) return record(stage, options.app);
  if (!only) return deploy(stage, options);
  const deployStack = (app?: string) => deploy(stage, { ...options, app, yes: true });
  return deployWholeStage(stage, { ...options, deployStack });
};

/**
 * Creates a change set, and executes the same change set. Throws instead, and deletes it, if it replaces or
 * removes a table, an index, the API or a custom domain, or reverts a commit that is in production. Also
 * throws if the stage has placeholders, or if its account is not ready for it.
 */
const deploy = async (stage: Stage, options: DeployOptions) => {
  const unready = [...placeholdersIn(stage), ...(await preflight(stage))];
  if (unready.length > 0) throw new AggregateError(unready);
  const { app, stage: only, emulator, yes } = options;
  const changeSet = newChangeSet(stackName(stage));
  const { StackName, ChangeSetName } = changeSet;
  const words = parametersOf(stage, options.traffic);
  if (only) words.push('--context', `stage=${only.name}`);
  if (emulator) words.push('--context', 'emulator=true');
  if (app !== undefined) words.push('--app', app);
  if (yes) words.push('--require-approval', 'never');
  words.push('--method', 'prepare-change-set', '--change-set-name', ChangeSetName);
  cdk('deploy', StackName, ...words);

  const client = new CloudFormationClient(regionOf(stage));
  const { changes, isAvailable } = await changesOf(client, changeSet);
  // CloudFormation refuses the change set if another deployment comes between.
  const problems = [...lossesOf(changes), ...mixedIndexesOf(changes), ...(await revertsOf(stage))];
  if (problems.length > 0) await refuse(client, changeSet, problems);
  if (!isAvailable) return;

  // Uses the stacks of the first command, so that CDK neither synthesises nor asks for approval again.
  const execute = ['--method', 'execute-change-set', '--change-set-name', ChangeSetName];
  const again = ['--app', app ?? 'cdk.out', '--require-approval', 'never'];
  cdk('deploy', StackName, ...again, ...execute);
};

/** Returns the parameters of a stage's stack. A value would stay if a later deployment gave none. */
const parametersOf = (stage: Stage, traffic: TrafficShift) => {
  const words = ['--no-previous-parameters'];
  words.push('--parameters', `${commitParameter}=${checkedOutCommit()}`);
  if (stage.canaryMinutes !== undefined)
    words.push('--parameters', `${trafficParameter}=${traffic}`);
  return words;
};

/** Returns a line if a deployment would take a commit back from clients, such as a hotfix. */
const revertsOf = async (stage: Stage): Promise<string[]> => {
  if (!isProduction(stage)) return [];
  const { commit } = await openStack(stage);
  if (commit === 'unknown' || contains(commit)) return [];
  return [`${stackName(stage)} has ${commit}, which this would revert: merge that commit first.`];
};

/** Records the release that a stage has as good. Throws if the stage has got another one meanwhile. */
const record = async (stage: Stage, folder = 'cdk.out') => {
  const stack = await openStack(stage);
  const { commit } = stack;
  if (commit !== checkedOutCommit())
    throw new Error(
      `${stackName(stage)} has ${commit}, which is not checked out: it was not recorded.`,
    );
  await recordGood(stage, { commit, template: templateAddress(folder, stage, stack) });
};

await program
  .name('npm run deploy --')
  .description(
    'Deploys a stack by a change set. Refuses a stage that has problems, and a change set that loses data.',
  )
  .argument('[stack]', 'id of a stack, such as AnimalStore-staging')
  .addOption(stageOption('deploy this stage with what its account lacks'))
  .option('--emulator', 'an AWS-compatible emulator, in the account of the emulator')
  .option('--app <folder>', 'deploy a stack that cdk synth wrote into this folder')
  .addOption(
    new Option('--traffic <how>', 'how a stage with a canary moves its traffic')
      .choices(trafficShifts)
      .default('canary'),
  )
  .option('--record', 'deploy nothing: record what the stage has as a good release')
  .option('--back', 'deploy the last good release before the one that the stage has')
  .option('--leave <commit>', 'go back only if the stage has this commit')
  .option('--yes', 'do not ask first')
  .action(run)
  .parseAsync()
  .catch(fail);

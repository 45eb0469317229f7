import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Option, program } from 'commander';
import * as v from 'valibot';
import {
  commitParameter,
  stackName,
  type TrafficShift,
  templateParameter,
  trafficParameter,
  trafficShifts,
} from '../../settings/names.ts';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { emulated, isPersonal, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { awsConfig } from '../aws-config.ts';
import { openAccount, openStack } from '../deployed-stack.ts';
import { preflight } from '../preflight/preflight.ts';
import { stageOption, withEmulator } from '../stage-option.ts';
import { fail, printable } from '../terminal.ts';
import { cdk, synthesise, templateFileOf } from './cdk.ts';
import {
  changesOf,
  destructiveChangesIn,
  mixedIndexesOf,
  newChangeSet,
  refuseChangeSet,
} from './change-set.ts';
import { checkedOutCommit, contains, isDirty } from './commit.ts';
import { goBack, openSettledStack } from './go-back.ts';
import { Release, recordGood } from './good-releases.ts';
import { deployWholeStage, printStage } from './whole-stage.ts';

interface DeployOptions {
  readonly stage?: Stage;
  readonly emulator?: true;
  readonly app?: string;
  readonly traffic: TrafficShift;
  readonly revertDrift?: true;
  readonly destructive?: true;
  readonly show?: true;
  readonly record?: true;
  readonly back?: true;
  readonly ifCommit?: string;
  readonly yes?: true;
}

const run = async (id: string | undefined, options: DeployOptions) => {
  const { stage: only, emulator, record: records, back, ifCommit, app } = options;
  const declared = (only ? [only] : stages).map((each) => (emulator ? emulated(each) : each));
  const stage = only ? declared[0] : declared.find((each) => stackName(each) === id);
  if (!stage)
    throw new Error(
      `Name a personal stage, such as npm run deploy -- --stage dev-alice, or the stack of a permanent one: ${declared.map(stackName).join(', ')}.`,
    );
  if (only && id !== undefined)
    throw new Error(`Name one stage: --stage ${only.name}, or ${id} without --stage.`);
  if (ifCommit !== undefined && !back && !records)
    throw new Error('--if-commit is for --back and --record.');
  if (options.show) return printStage(stage);
  if (records) return record(stage, ifCommit);

  const next = back
    ? 'The same command would then go back further, so see first what the stage has, with --show instead of --back.'
    : 'Run the same command again.';
  process.once('SIGINT', () => {
    console.error(`error: Interrupted. AWS may continue. ${next}`);
    process.exit(130);
  });
  if (back) return goBack(stage, options);
  const commit = checkedOutCommit();
  if (isDirty(commit) && !isPersonal(stage) && !emulator)
    throw new Error(
      `${stage.name} names the commit that it has, and files here differ from it: commit or stash them first. See git status.`,
    );
  const context = [
    ...(only ? ['--context', `stage=${only.name}`] : []),
    ...(emulator ? ['--context', 'emulator=true'] : []),
  ];
  const deployFrom = (folder: () => Promise<string>, yes?: true) =>
    deploy(stage, { ...options, yes, commit, folder });
  const folder = async () => app ?? (await synthesise(stage, context));
  if (!only) return deployFrom(folder, options.yes);
  const deployStack = (synthesised: string) => deployFrom(async () => synthesised, true);
  return deployWholeStage(stage, { ...options, context, folder, deployStack });
};

interface Deployment {
  /** The commit that the stack gets to know. */
  readonly commit: string;
  /** Returns the folder of the synthesised stacks. */
  readonly folder: () => Promise<string>;
  readonly traffic: TrafficShift;
  readonly revertDrift?: true;
  readonly destructive?: true;
  readonly yes?: true | undefined;
}

/**
 * Creates a change set, and executes the same change set. Throws instead, and deletes it, if it replaces or
 * removes a table, an index, the API or a custom domain without the operator's word, or reverts a commit that
 * is in production. Also throws if the stage has placeholders, if its account is not ready for it, or if files
 * changed meanwhile.
 */
const deploy = async (stage: Stage, deployment: Deployment) => {
  const findings = await preflight(stage, await openAccount(stage));
  const unready = [...placeholdersIn(stage), ...findings.map(({ problem }) => problem)];
  if (unready.length > 0) throw new AggregateError(unready);
  const { revertDrift, destructive, yes } = deployment;
  const changeSet = newChangeSet(stackName(stage));
  const { StackName, ChangeSetName } = changeSet;
  const folder = await deployment.folder();
  if (checkedOutCommit() !== deployment.commit)
    throw new Error('Files changed before they were synthesised: run the same command again.');
  const words = ['--app', folder, ...parametersOf(stage, deployment, folder)];
  if (yes) words.push('--require-approval', 'never');
  if (revertDrift) words.push('--revert-drift');
  words.push('--method', 'prepare-change-set', '--change-set-name', ChangeSetName);
  await cdk('deploy', StackName, ...words);

  const client = new CloudFormationClient(await awsConfig(stage));
  const { changes, isAvailable } = await changesOf(client, changeSet);
  const destructions = destructiveChangesIn(changes);
  // CloudFormation refuses the change set if another deployment comes between.
  const problems = [...mixedIndexesOf(changes), ...(await revertsOf(stage))];
  if (!destructive) problems.push(...destructions);
  if (problems.length > 0) await refuseChangeSet(client, changeSet, problems);
  if (!isAvailable) return;
  for (const each of destructions) console.log(printable(each));

  const execute = ['--method', 'execute-change-set', '--change-set-name', ChangeSetName];
  // So that the CDK does not ask for approval again.
  await cdk('deploy', StackName, '--app', folder, '--require-approval', 'never', ...execute);
};

/** Returns the parameters of a stage's stack. A value would stay if a later deployment gave none. */
const parametersOf = (stage: Stage, { commit, traffic }: Deployment, folder: string) => {
  const values = [
    `${commitParameter}=${commit}`,
    `${templateParameter}=${templateFileOf(stage, folder)}`,
  ];
  if (stage.canaryMinutes > 0) values.push(`${trafficParameter}=${traffic}`);
  return ['--no-previous-parameters', ...values.flatMap((value) => ['--parameters', value])];
};

/** Returns a line if a deployment would take a commit back from clients, such as a hotfix. */
const revertsOf = async (stage: Stage): Promise<string[]> => {
  if (!isProduction(stage)) return [];
  const { commit } = await openStack(stage);
  if (commit === 'unknown' || contains(commit)) return [];
  return [
    `${stackName(stage)} has ${commit}, which this would revert: fetch and merge that commit first.`,
  ];
};

/**
 * Records the release that a stage has as good. Throws what `openSettledStack` throws, or if the stage was
 * deployed without a commit or from files that no commit has.
 */
const record = async (stage: Stage, expected: string | undefined) => {
  const { commit, template } = await openSettledStack(stage, expected);
  const { success, output: release } = v.safeParse(Release, { commit, template });
  if (!success)
    throw new Error(
      `${stackName(stage)} has the commit ${commit} and the template ${template}, which npm run deploy sets from a commit: it was not recorded.`,
    );
  await recordGood(stage, release);
  console.log(
    `Recorded as a good release of ${stage.name}: ${commit}, with the template ${template}.`,
  );
};

/** The options of a deployment of what is checked out. */
const forDeployments = ['app', 'traffic', 'revertDrift', 'destructive'];

program
  .name('npm run deploy --')
  .description(
    'Deploys a stack by a change set. Refuses a stage that has problems, and a change set that loses data.',
  )
  .argument('[stack]', 'the stack of a permanent stage, such as AnimalStore-staging')
  .addOption(stageOption('deploy this stage with what its account lacks'));
await withEmulator(program)
  .option('--app <folder>', 'deploy a stack that cdk synth wrote into this folder')
  .addOption(
    new Option('--traffic <how>', 'how a stage with a canary moves its traffic')
      .choices(trafficShifts)
      .default('canary'),
  )
  .option('--revert-drift', 'undo what was changed without CloudFormation too')
  .option('--destructive', 'replace or remove a table, an index, the API or a custom domain too')
  .addOption(
    new Option(
      '--show',
      'deploy nothing: print the status, the address, the commit and the logs of the stage',
    ).conflicts(forDeployments),
  )
  .addOption(
    new Option('--record', 'deploy nothing: record what the stage has as a good release').conflicts(
      ['show', ...forDeployments],
    ),
  )
  .addOption(
    new Option(
      '--back',
      'deploy the last good release before the one that the stage has',
    ).conflicts(['show', 'record', ...forDeployments]),
  )
  .option('--if-commit <commit>', 'with --record or --back: only if the stage has this commit')
  .option('--yes', 'do not ask first')
  .action(run)
  .parseAsync()
  .catch(fail);

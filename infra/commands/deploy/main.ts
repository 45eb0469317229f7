import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Option, program } from 'commander';
import { fail } from '../../message-of.ts';
import {
  accountStackId,
  accountStackName,
  commitParameter,
  githubStackId,
  githubStackName,
  stackName,
  type TrafficShift,
  trafficParameter,
  trafficShifts,
} from '../../settings/names.ts';
import { regionOf } from '../../settings/region-of.ts';
import { missingInRepository, placeholdersIn } from '../../settings/stage-problems.ts';
import { emulated, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { openStack } from '../deployed-stack.ts';
import { preflight } from '../preflight/preflight.ts';
import { stageOption } from '../stage-option.ts';
import {
  changeSetPrefix,
  changesOf,
  deleteUnexecuted,
  lossesOf,
  mixedIndexesOf,
} from './change-set.ts';
import { checkedOutCommit, contains } from './commit.ts';
import { goBack } from './go-back.ts';
import { recordGood, templateAddress } from './good-releases.ts';
import { deployWholeStage } from './whole-stage.ts';

interface DeployOptions {
  readonly stage?: Stage;
  readonly requireApproval?: string;
  readonly outputsFile?: string;
  readonly context: readonly string[];
  readonly app?: string;
  readonly traffic: TrafficShift;
  readonly revertDrift?: true;
  readonly record?: true;
  readonly back?: true;
  readonly leave?: string;
  readonly yes?: true;
}

/** A stack that can be deployed. */
interface DeployableStack {
  /** The id of the stack in CDK commands. */
  readonly id: string;
  /** The name of the stack in CloudFormation. */
  readonly name: string;
  readonly kind: 'account' | 'github' | 'stage';
  readonly stage: Stage;
}

/** The stacks of each stage, by id, in the order of deployment. */
const targetsOf = (deployed: readonly Stage[]): ReadonlyMap<string, DeployableStack> => {
  const targets = new Map<string, DeployableStack>();
  const share = (target: DeployableStack) => {
    const shared = targets.get(target.id)?.stage;
    // Stages may share an account. One that is not set yet must not prevent the stack that another needs.
    if (shared === undefined || placeholdersIn(shared).length > 0) targets.set(target.id, target);
  };
  for (const stage of deployed) {
    share({ id: accountStackId(stage), name: accountStackName, kind: 'account', stage });
    share({ id: githubStackId(stage), name: githubStackName, kind: 'github', stage });
    const name = stackName(stage);
    targets.set(name, { id: name, name, kind: 'stage', stage });
  }
  return targets;
};

/** Runs `cdk deploy` and shows its output. Throws when it fails. */
const cdkDeploy = (...words: readonly string[]) => {
  const env = { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' };
  execFileSync('cdk', ['deploy', ...words], { stdio: 'inherit', env });
};

/** Returns the parameters of a stage's stack. A value would stay if a later deployment gave none. */
const parametersOf = ({ name, kind, stage }: DeployableStack, traffic: TrafficShift) => {
  if (kind !== 'stage') return [];
  const shift = stage.canaryMinutes === undefined ? [] : [`${trafficParameter}=${traffic}`];
  const values = [`${commitParameter}=${checkedOutCommit()}`, ...shift];
  return [
    '--no-previous-parameters',
    ...values.flatMap((each) => ['--parameters', `${name}:${each}`]),
  ];
};

/** Returns a line if a deployment would take a commit back from clients, such as a hotfix. */
const revertsOf = async ({ kind, name, stage }: DeployableStack): Promise<string[]> => {
  if (kind !== 'stage' || !isProduction(stage)) return [];
  const { commit } = await openStack(stage);
  if (commit === 'unknown' || contains(commit)) return [];
  return [`${name} has ${commit}, which this would revert: merge that commit first.`];
};

/**
 * Creates a change set, and executes the same change set. Throws instead, and deletes it, if it replaces or
 * removes a table, an index, the API or a custom domain, or reverts a commit that is in production.
 */
const deploy = async (target: DeployableStack, options: DeployOptions) => {
  const { id, name, kind, stage } = target;
  const { requireApproval, outputsFile, revertDrift } = options;
  const folder = kind === 'github' ? undefined : options.app;
  const app = kind === 'github' ? 'node infra/github-app.ts' : options.app;
  const context = options.stage
    ? [...options.context, `stage=${options.stage.name}`]
    : options.context;
  const outputs = outputsFile === undefined ? [] : ['--outputs-file', outputsFile];
  const ChangeSetName = `${changeSetPrefix}${randomUUID()}`;
  const changeSet = ['--change-set-name', ChangeSetName];
  const words = [id];
  if (requireApproval !== undefined) words.push('--require-approval', requireApproval);
  words.push(...outputs);
  for (const value of context) words.push('--context', value);
  if (app !== undefined) words.push('--app', app);
  if (revertDrift) words.push('--revert-drift');
  words.push(...parametersOf(target, options.traffic));
  cdkDeploy(...words, '--method', 'prepare-change-set', ...changeSet);

  const client = new CloudFormationClient(regionOf(stage));
  const { changes, isAvailable } = await changesOf(client, { StackName: name, ChangeSetName });
  // CloudFormation refuses the change set if another deployment comes between.
  const problems = [...lossesOf(changes), ...mixedIndexesOf(changes), ...(await revertsOf(target))];
  if (!isAvailable || problems.length > 0) await deleteUnexecuted(client, name);
  if (problems.length > 0)
    throw new AggregateError([
      ...problems,
      'Nothing was deployed. See "Release" in infra/README.md.',
    ]);
  if (!isAvailable) return;

  // Uses the stacks of the first command, so that CDK neither synthesises nor asks for approval again.
  const execute = ['--app', folder ?? 'cdk.out', '--method', 'execute-change-set', ...changeSet];
  cdkDeploy(id, ...execute, '--require-approval', 'never', ...outputs);
};

/** Records the release that a stage has as good. Throws if the stage has got another one meanwhile. */
const record = async ({ id, stage }: DeployableStack, folder = 'cdk.out') => {
  const stack = await openStack(stage);
  const { commit } = stack;
  if (commit !== checkedOutCommit())
    throw new Error(`${id} has ${commit}, which is not checked out: it was not recorded.`);
  await recordGood(stage, { commit, template: templateAddress(folder, stage, stack) });
};

const run = async (ids: readonly string[], options: DeployOptions) => {
  const isEmulator = options.context.includes('emulator=true');
  const { stage } = options;
  if (stage && !options.back && !options.record)
    return deployWhole(isEmulator ? emulated(stage) : stage, options);
  const declared = stage ? [stage] : stages;
  const targets = targetsOf(isEmulator ? declared.map(emulated) : declared);
  const named = stage ? [...ids, stackName(stage)] : ids;
  if (named.length === 0 || !named.every((id) => targets.has(id)))
    throw new Error(`Name a stack: ${[...targets.keys()].join(', ')}.`);
  for (const target of targets.values()) {
    if (!named.includes(target.id)) continue;
    if ((options.back || options.record) && target.kind !== 'stage')
      throw new Error(`${target.id} has no releases: name the stack of a stage.`);
    if (options.back) await goBack(target.stage, options);
    else if (options.record) await record(target, options.app);
    else await deployReady(target, options);
  }
};

/** Deploys a stack whose settings are complete, into an account that is ready for it. */
const deployReady = async (target: DeployableStack, options: DeployOptions) => {
  const { kind, stage } = target;
  const found = await preflight(stage, kind === 'stage' ? 'stage' : 'account');
  const missing = kind === 'github' ? missingInRepository() : [];
  const problems = [...placeholdersIn(stage), ...missing, ...found];
  if (problems.length > 0) throw new AggregateError(problems);
  await deploy(target, options);
};

/** Deploys a stage, and before that what its account lacks. */
const deployWhole = (stage: Stage, given: DeployOptions) => {
  let options: DeployOptions = { ...given, stage, requireApproval: 'never' };
  return deployWholeStage(stage, {
    yes: options.yes,
    isEmulator: options.context.includes('emulator=true'),
    deploy: async (kind) => {
      const target = [...targetsOf([stage]).values()].find((each) => each.kind === kind);
      if (target) await deployReady(target, options);
      // The stacks of the account and of the stage are synthesised together.
      options = { app: 'cdk.out', ...options };
    },
  });
};

const collect = (value: string, previous: readonly string[]) => [...previous, value];

program
  .name('npm run deploy --')
  .description(
    'Deploys stacks by change sets. Refuses a stage that has problems, and a change set that loses data.',
  )
  .argument('[stacks...]', 'ids of stacks, such as AnimalStore-staging')
  .addOption(stageOption('deploy the stack of this stage'))
  .option('--require-approval <level>', 'which changes of permissions CDK asks about')
  .option('--outputs-file <file>', 'write the outputs of the stacks to this file, as JSON')
  .addOption(
    new Option('--context <key=value>', 'a value of the CDK context; can be repeated')
      .argParser(collect)
      .default([], 'none'),
  )
  .option('--app <folder>', 'deploy the stacks that cdk synth wrote into this folder')
  .addOption(
    new Option('--traffic <how>', 'how a stage with a canary moves its traffic')
      .choices(trafficShifts)
      .default('canary'),
  )
  .option('--revert-drift', 'also undo what was changed outside the stack')
  .option('--record', 'deploy nothing: record what the stage has as a good release')
  .option('--back', 'deploy the last good release before the one that the stage has')
  .option('--leave <commit>', 'go back only if the stage has this commit')
  .option('--yes', 'do not ask first')
  .action(run);

await program.parseAsync().catch(fail);

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { CloudFormationClient, paginateDescribeChangeSet } from '@aws-sdk/client-cloudformation';
import { Option, program } from 'commander';
import { fail } from '../../message-of.ts';
import {
  accountStackId,
  accountStackName,
  githubStackId,
  githubStackName,
  stackName,
} from '../../settings/names.ts';
import { missingInRepository, placeholdersIn } from '../../settings/placeholders.ts';
import { regionOf } from '../../settings/region-of.ts';
import { emulated, prod, type Stage, stages } from '../../settings/stages.ts';
import { announce, askInTerminal, confirm } from '../confirm.ts';
import { preflight } from '../preflight/preflight.ts';
import { stageOption } from '../stage-option.ts';
import { changeSetPrefix, deleteUnexecuted, lossesOf, mixedIndexesOf } from './change-set.ts';
import { downloadReleaseBefore } from './download-release-before.ts';
import { recordReturnTo } from './releases.ts';

interface DeployOptions {
  readonly stage?: Stage;
  readonly requireApproval?: string;
  readonly outputsFile?: string;
  readonly context: readonly string[];
  readonly app?: string;
  readonly before?: string;
  readonly yes?: true;
  readonly revertDrift?: true;
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

/**
 * Creates a change set, and executes the same change set. Throws instead, and deletes it, if it replaces or
 * removes a table, an index, the API or a custom domain.
 */
const deploy = async ({ id, name, kind, stage }: DeployableStack, options: DeployOptions) => {
  const { requireApproval, outputsFile, revertDrift } = options;
  const folder = kind === 'github' ? undefined : options.app;
  const app = kind === 'github' ? 'node infra/github-app.ts' : options.app;
  const context = options.stage
    ? [...options.context, `stage=${options.stage.name}`]
    : options.context;
  const approval = requireApproval === undefined ? [] : ['--require-approval', requireApproval];
  const outputs = outputsFile === undefined ? [] : ['--outputs-file', outputsFile];
  const contexts = context.flatMap((value) => ['--context', value]);
  const drift = revertDrift ? ['--revert-drift'] : [];
  const stacks = app === undefined ? [] : ['--app', app];
  const ChangeSetName = `${changeSetPrefix}${randomUUID()}`;
  const changeSet = ['--change-set-name', ChangeSetName];
  const prepare = ['--method', 'prepare-change-set', ...changeSet];
  cdkDeploy(id, ...approval, ...outputs, ...contexts, ...stacks, ...drift, ...prepare);

  const client = new CloudFormationClient(regionOf(stage));
  const changeSetOfStack = { StackName: name, ChangeSetName, IncludePropertyValues: true };
  const found = await Array.fromAsync(paginateDescribeChangeSet({ client }, changeSetOfStack));
  // A change set in which only outputs differ is available too, although it has no changes:
  // https://github.com/aws/aws-cdk/pull/2029
  const differs = found[0]?.ExecutionStatus === 'AVAILABLE';
  const changes = found.flatMap(({ Changes = [] }) => Changes);
  const problems = [...lossesOf(changes), ...mixedIndexesOf(changes)];
  if (!differs || problems.length > 0) await deleteUnexecuted(client, name);
  if (problems.length > 0)
    throw new AggregateError([
      ...problems,
      'Nothing was deployed. See "Tables and indexes" in infra/README.md.',
    ]);
  if (!differs) return;

  // Uses the stacks of the first command, so that CDK neither synthesises nor asks for approval again.
  const execute = ['--app', folder ?? 'cdk.out', '--method', 'execute-change-set', ...changeSet];
  cdkDeploy(id, ...execute, '--require-approval', 'never', ...outputs);
};

const run = async (ids: readonly string[], options: DeployOptions) => {
  const isEmulator = options.context.includes('emulator=true');
  const { stage, before } = options;
  const declared = stage ? [stage] : stages;
  const targets = targetsOf(isEmulator ? declared.map(emulated) : declared);
  const named = stage ? [...ids, stackName(stage)] : ids;
  if (named.length === 0 || !named.every((id) => targets.has(id)))
    throw new Error(`Name a stack: ${[...targets.keys()].join(', ')}.`);
  if (before !== undefined && named.join() !== stackName(prod))
    throw new Error(`Only ${stackName(prod)} can go back, because GitHub records its releases.`);
  for (const target of targets.values()) {
    if (!named.includes(target.id)) continue;
    // What the settings of this commit lack must not keep a stage from going back to an earlier one.
    const isWhole = target.kind === 'stage' && before === undefined;
    const found = await preflight(target.stage, isWhole ? 'stage' : 'account');
    const missing = target.kind === 'github' ? missingInRepository() : [];
    const unset = before === undefined ? [...placeholdersIn(target.stage), ...missing] : [];
    const problems = [...unset, ...found];
    if (problems.length > 0) throw new AggregateError(problems);
    if (before === undefined) await deploy(target, options);
    else await goBack(target, before, options);
  }
};

/** Deploys the last good release before a run, when the operator agrees, and records that in GitHub. */
const goBack = async (target: DeployableStack, before: string, options: DeployOptions) => {
  const { folder, ...release } = downloadReleaseBefore(before);
  const { name, environment } = target.stage;
  const { account = 'of the credentials', region = 'of the credentials' } = environment ?? {};
  announce({ stage: name, account, region }, [
    `Deploy ${release.commit}, which the run ${release.run} released, without a canary`,
  ]);
  if (!options.yes) await confirm(askInTerminal, name, ': add --yes');
  await deploy(target, { ...options, app: folder });
  // Its own job records that the release that calls this went back.
  if (before !== process.env['GITHUB_RUN_ID']) recordReturnTo(release);
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
    new Option(
      '--before <run>',
      'go back: deploy, without a canary, the last good release before this run of release.yml',
    ).conflicts('app'),
  )
  .option('--yes', 'go back without asking first')
  .option('--revert-drift', 'also undo what was changed outside the stack')
  .action(run);

await program.parseAsync().catch(fail);

import { CloudFormationClient, DeleteChangeSetCommand } from '@aws-sdk/client-cloudformation';
import { program } from 'commander';
import {
  accountStackId,
  accountStackName,
  commitParameter,
  previousCommitParameter,
  stackName,
  trafficParameter,
  trafficShifts,
} from '../../settings/names.ts';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { emulated, isPersonal, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { findStack, type OpenedAccount, openAccount } from '../deployed-stack.ts';
import { preflight } from '../preflight.ts';
import { withStage } from '../stage-option.ts';
import { printStatus } from '../stage-status.ts';
import { announce, askInTerminal, confirm, fail, printable } from '../terminal.ts';
import { cdk, synthesise } from './cdk.ts';
import {
  type ChangeSet,
  describeChangeSet,
  destructiveChangesIn,
  linesOf,
  newChangeSet,
  refuseLosses,
} from './change-set.ts';
import { checkedOutCommit, refuseToTakeBack } from './commit.ts';
import { printNextSteps } from './next-steps.ts';
import { findSettledStack, type SettledStack } from './settled-stack.ts';

interface DeployOptions {
  readonly stage: Stage;
  readonly emulator?: true;
  readonly app?: string;
  readonly allAtOnce?: true;
  readonly revert?: true;
  readonly revertDrift?: true;
  readonly destructive?: true;
  readonly yes?: true;
}

/** A deployment whose commit and former state are known. */
interface Deployment extends DeployOptions {
  readonly account: OpenedAccount;
  readonly commit: string;
  /** The stack that it changes; undefined at the first deployment. */
  readonly former: SettledStack | undefined;
}

/**
 * Deploys what is checked out to a stage, with what its account lacks, and prints what comes next. It can be
 * repeated after any failure.
 */
const deploy = async (options: DeployOptions): Promise<void> => {
  const { emulator, app, revert, yes } = options;
  if (!yes && !askInTerminal) throw new Error('There is no terminal to ask: add --yes');
  const stage = emulator ? emulated(options.stage) : options.stage;
  const StackName = stackName(stage);
  const account = await openAccount(stage);
  protectProduction(stage, account);

  const mustBeCommitted = !isPersonal(stage) && !emulator;
  const commit = checkedOutCommit(mustBeCommitted);
  const former = await findSettledStack(stage, account);
  if (former && isProduction(stage) && !revert) refuseToTakeBack(former.commit, StackName);
  const deployment = { ...options, stage, account, commit, former };

  const lacks = await checkAccount(deployment);
  const steps = lacks.map((lack) => additions[lack]);
  if (steps.length > 0) await ask(deployment, steps);
  // The CDK's command line also looks for a region where the SDK does not.
  process.env['AWS_REGION'] = account.region;
  const context = ['--context', `stage=${stage.name}`];
  if (emulator) context.push('--context', 'emulator=true');
  if (revert) context.push('--context', 'placeholders=allowed');
  const folder = app ?? (await synthesise(stage, context));
  if (checkedOutCommit(mustBeCommitted) !== commit)
    throw new Error('Files changed before they were synthesised: run the same command again.');
  // The CDK asks nothing, because this command shows what will change, and asks.
  const cdkDeploy = (id: string, ...words: readonly string[]) =>
    cdk('deploy', id, '--app', folder, '--require-approval', 'never', ...words);
  if (lacks.includes('bootstrap'))
    await cdk('bootstrap', `aws://${account.account}/${account.region}`, ...context);
  if (lacks.includes('logRole')) await cdkDeploy(accountStackId(stage));

  const changeSet = newChangeSet(StackName);
  const named = ['--change-set-name', changeSet.ChangeSetName];
  const prepared = [...parametersOf(deployment), '--method', 'prepare-change-set', ...named];
  if (options.revertDrift) prepared.push('--revert-drift');
  await cdkDeploy(StackName, ...prepared);
  if (await agreeTo(changeSet, deployment))
    await cdkDeploy(StackName, '--method', 'execute-change-set', ...named);
  else console.log('Nothing differs from what is deployed.');

  await printStatus(stage);
  await printNextSteps(stage, account, emulator);
};

/**
 * Throws if a personal stage is deployed to the account of a stage in production, because a mistake would reach
 * clients. Warns of a permanent one, whose releases can change every stack of the account.
 */
const protectProduction = (stage: Stage, { account }: OpenedAccount) => {
  const production = stages.find(
    (each) =>
      isProduction(each) && each.name !== stage.name && each.environment?.account === account,
  );
  if (!production) return;
  const shared = `The credentials belong to the account ${account} of ${production.name}`;
  if (isPersonal(stage)) throw new Error(`${shared}: use others.`);
  console.error(
    `warning: ${shared}, which a release of ${stage.name} can change too. See "Prod" in infra/first-deployment.md.`,
  );
};

/** What a deployment can add to an account. */
const additions = {
  bootstrap: 'Bootstrap the account for the CDK: cdk bootstrap',
  logRole: `Deploy ${accountStackName}: a role with which API Gateway writes logs`,
};

/**
 * Returns what the account of a stage lacks and the deployment adds. Throws the problems that it has otherwise.
 * A pipeline adds nothing. Neither does a way back, which only prints the problems, because nothing of lesser
 * weight may prevent it.
 */
const checkAccount = async ({ stage, account, app, revert }: Deployment) => {
  const findings = await preflight(stage, account);
  const addsNothing = app !== undefined || revert === true;
  const lacks = addsNothing ? [] : findings.flatMap(({ addition }) => addition ?? []);
  const others = addsNothing ? findings : findings.filter(({ addition }) => !addition);
  const problems = [...placeholdersIn(stage), ...others.map(({ problem }) => problem)];
  if (problems.length > 0 && !revert) throw new AggregateError(problems);
  for (const problem of problems) console.error(printable(`warning: ${problem}`));
  return lacks;
};

/** Shows what will be done where. Throws unless somebody agrees. */
const ask = async (
  { stage, account: { account, region }, yes }: Deployment,
  steps: readonly string[],
  ...notices: readonly string[]
) => {
  announce({ stage: stage.name, account, region }, steps, ...notices);
  if (!yes) await confirm(askInTerminal, stage.name);
};

/** Returns the words that give the stack its parameters. It would keep a value that a later deployment omits. */
const parametersOf = ({ stage, commit, former, revert, allAtOnce }: Deployment): string[] => {
  const [canary, atOnce] = trafficShifts;
  // The commit that a way back leaves is no commit to return to.
  const left = revert ? 'unknown' : (former?.commit ?? 'unknown');
  const values = {
    [commitParameter]: commit,
    [previousCommitParameter]: former?.commit === commit ? former.previousCommit : left,
    ...(stage.canaryMinutes > 0 && { [trafficParameter]: revert || allAtOnce ? atOnce : canary }),
  };
  const words = Object.entries(values).flatMap(([name, value]) => [
    '--parameters',
    `${name}=${value}`,
  ]);
  return ['--no-previous-parameters', ...words];
};

/** Says which commit replaces which one, and how the traffic moves. */
const noticesOf = ({ stage, commit, former, revert, allAtOnce }: Deployment): string[] => {
  const commits = former ? `Commit ${commit} replaces ${former.commit}.` : `Commit ${commit}.`;
  if (!former || stage.canaryMinutes === 0) return [commits];
  const canary = `After the check, 10 % of the traffic moves for ${stage.canaryMinutes} minutes.`;
  return [commits, revert || allAtOnce ? 'After the check, all traffic moves at once.' : canary];
};

/**
 * Shows a change set, and returns whether it changes anything. Throws, and deletes it, if it loses data without
 * the operator's word, if nobody agrees to it, or if the stack was deployed meanwhile.
 */
const agreeTo = async (changeSet: ChangeSet, deployment: Deployment): Promise<boolean> => {
  const { stage, account, former } = deployment;
  const client = new CloudFormationClient(account.config);
  const { changes, executionStatus } = await describeChangeSet(client, changeSet);
  // Somebody could still execute it. Why it is not executed matters more than a failure to delete it.
  const discard = () => client.send(new DeleteChangeSetCommand(changeSet)).catch(() => {});
  if (executionStatus === 'UNAVAILABLE') {
    await discard();
    return false;
  }
  try {
    if (executionStatus !== 'AVAILABLE')
      throw new Error(
        `${changeSet.StackName} was deployed just now, so its change set is ${executionStatus}: run the same command again.`,
      );
    refuseLosses(changes, deployment);
    const created = `Create ${changeSet.StackName}, with ${changes.length} resources`;
    const steps = former ? linesOf(changes) : [created];
    await ask(deployment, steps, ...noticesOf(deployment), ...destructiveChangesIn(changes));
    // CloudFormation refuses the change set after any other update of the stack.
    const current = former && (await findStack(stage, account));
    if (current?.commit !== former?.commit)
      throw new Error(
        `${changeSet.StackName} was deployed just now, and has the commit ${current?.commit}: nothing was changed.`,
      );
    return true;
  } catch (error) {
    await discard();
    throw error;
  }
};

process.once('SIGINT', () => {
  console.error('error: Interrupted. AWS may continue. Run the same command again.');
  process.exit(130);
});

await withStage(program, 'the stage to deploy')
  .name('npm run deploy --')
  .description(
    'Deploys what is checked out to a stage, by a change set that it shows first. Refuses to lose data.',
  )
  .option('--app <folder>', 'deploy the stacks that cdk synth wrote into this folder')
  .option('--all-at-once', 'move all traffic to new versions after their check, without a canary')
  .option(
    '--revert',
    'go back to an earlier commit, all at once, even if the account lacks something',
  )
  .option('--revert-drift', 'undo what was changed without CloudFormation too')
  .option('--destructive', 'replace or remove a table, an index, the API or a custom domain too')
  .option('--yes', 'do not ask first')
  .action(deploy)
  .parseAsync()
  .catch(fail);

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '@aws-sdk/client-cloudformation';
import { Command } from 'commander';
import { projectDirectory } from '../build/project-directory.ts';
import {
  commitParameter,
  previousCommitParameter,
  stackName,
  trafficParameter,
  trafficShifts,
} from '../settings/names.ts';
import { isPersonal, isProduction, type Stage, stages } from '../settings/stages.ts';
import { cdk, makeWrappersExecutable } from './deploy/cdk.ts';
import {
  describeChangeSet,
  destructiveChangesIn,
  discardChangeSet,
  linesOf,
  newChangeSet,
  refuseLosses,
} from './deploy/change-set.ts';
import { checkedOutCommit, refuseToTakeBack } from './deploy/commit.ts';
import { printNextSteps } from './deploy/next-steps.ts';
import { findSettledStack, type SettledStack } from './deploy/settled-stack.ts';
import { findStack } from './shared/deployed-stack.ts';
import { type OpenedAccount, openAccount } from './shared/open-account.ts';
import { type Plan, perform, requireConsent } from './shared/plan.ts';
import { printStatus } from './shared/print-status.ts';
import { change, runProgram, withCleanup } from './shared/run-program.ts';
import { withStage } from './shared/stage-option.ts';
import { type Ask, askInTerminal } from './shared/terminal.ts';

/** What the program deploys, and from where. */
interface Setup {
  /** The permanent stages. */
  readonly stages: readonly Stage[];
  /** The folder of the project, whose commit is deployed. */
  readonly directory: string;
  /** Asks the operator to type something; undefined if there is no terminal. */
  readonly ask: Ask | undefined;
  /** Whether the output is on a terminal. Otherwise it may be in a log that others read. */
  readonly isOnTerminal: boolean;
}

interface DeployOptions {
  readonly stage: Stage;
  readonly app?: string;
  readonly allAtOnce?: true;
  readonly revert?: true;
  readonly destructive?: true;
  readonly yes?: true;
}

/** A deployment whose commit and former state are known. */
interface Deployment extends Setup, DeployOptions {
  readonly account: OpenedAccount;
  readonly commit: string;
  /** The stack that it changes; undefined at the first deployment. */
  readonly former: SettledStack | undefined;
}

/**
 * Deploys what is checked out to a stage, and prints what comes next. It can be repeated after any failure.
 */
const deploy = async (setup: Setup, options: DeployOptions): Promise<void> => {
  const { directory, stages, isOnTerminal } = setup;
  const { stage, app, revert } = options;
  requireConsent({ ...setup, ...options });
  const isPermanent = !isPersonal(stage) && !stage.isEmulated;
  if (isPermanent && !stage.env?.account)
    throw new Error(`env of ${stage.name} has no account: set it in infra/settings/stages.ts`);
  if (isPermanent && stage.alarmRecipients.length === 0)
    throw new Error(
      `alarmRecipients of ${stage.name} is empty, so nobody would hear its alarms: set it in infra/settings/stages.ts`,
    );
  const account = await openAccount(stage);
  protectProduction(stages, stage, account);

  const commit = checkedOutCommit(directory, isPermanent);
  const former = await findSettledStack(stage, account);
  if (former && isProduction(stage) && !revert)
    refuseToTakeBack(directory, former.commit, stackName(stage));
  const deployment = { ...setup, ...options, account, commit, former };

  const deployFrom = async (folder: string) => {
    if (checkedOutCommit(directory, isPermanent) !== commit)
      throw new Error('Files changed before they were synthesised: run the same command again.');
    await makeWrappersExecutable(folder);
    await deployStack(deployment, folder);
  };
  if (app === undefined) await synthesise(deployment, deployFrom);
  else await deployFrom(app);

  await printStatus(stage);
  if (isPersonal(stage)) await printNextSteps(stage, isOnTerminal);
};

/** Returns the words that tell the app what to synthesise. */
const contextOf = ({ stage }: Deployment): string[] => {
  const context = ['--context', `stage=${stage.name}`];
  if (stage.isEmulated) context.push('--context', 'emulator=true');
  return context;
};

/** Synthesises the stack into a new folder, and uses it, before it is removed. */
const synthesise = async (
  deployment: Deployment,
  use: (folder: string) => Promise<void>,
): Promise<void> => {
  const { stage, account } = deployment;
  const folder = await mkdtempDisposable(join(tmpdir(), 'animal-store-'));
  const words = ['synth', stackName(stage), '--quiet', ...contextOf(deployment)];
  await withCleanup(folder.remove, async () => {
    await cdk(account.region, [...words, '--output', folder.path]);
    await use(folder.path);
  });
};

/**
 * Deploys a stack of a folder. The CDK asks nothing, because this command shows what will change, and asks.
 */
const runDeploy = (
  { account }: Deployment,
  folder: string,
  id: string,
  ...words: readonly string[]
) =>
  cdk(account.region, [
    ...['deploy', id, '--app', folder, '--require-approval', 'never'],
    ...words,
  ]);

/**
 * Deploys the stack by a change set, if that changes anything and the operator agrees. Throws if it loses
 * data without the operator's word, or if the stack was changed meanwhile. A change set that is not executed
 * is deleted, because somebody could still execute it.
 */
const deployStack = async (deployment: Deployment, folder: string): Promise<void> => {
  const { stage, account, former } = deployment;
  const client = account.clients.cloudformation;
  const changeSet = newChangeSet(stackName(stage));
  const { StackName, ChangeSetName } = changeSet;
  const outrun = new Error(
    `${StackName} was changed just now by somebody else: run the same command again.`,
  );
  let isExecuted = false;
  // Why it is not executed matters more than a failure to delete it.
  const discard = async () => {
    if (!isExecuted) await discardChangeSet(client, changeSet).catch(() => {});
  };
  const run = (method: string, ...words: readonly string[]) => {
    const named = ['--method', method, '--change-set-name', ChangeSetName];
    return runDeploy(deployment, folder, StackName, ...words, ...named);
  };
  const execute = async () => {
    // CloudFormation refuses a change set that is older than the last update, but not one that is newer. At
    // a first deployment, there is nothing to compare: the change set itself has made the stack.
    const current = former && (await findStack(stage, account));
    if (current?.commit !== former?.commit) throw outrun;
    isExecuted = true;
    await run('execute-change-set').catch(async (error: unknown) => {
      const { executionStatus } = await describeChangeSet(client, changeSet).catch(() => {
        throw error;
      });
      throw executionStatus === 'OBSOLETE' ? outrun : error;
    });
  };
  await withCleanup(discard, async () => {
    await change(() => run('prepare-change-set', ...parametersOf(deployment)));
    const { changes, executionStatus } = await describeChangeSet(client, changeSet);
    if (executionStatus === 'UNAVAILABLE') {
      console.log('Nothing differs from what is deployed.');
      return;
    }
    if (executionStatus !== 'AVAILABLE') throw outrun;
    refuseLosses(changes, deployment);
    await perform({ ...account, stage }, planOf(deployment, changes, execute), deployment);
  });
};

/**
 * Throws if a personal stage is deployed to the account of a stage in production, because a mistake would
 * reach clients. Warns of a permanent one, whose releases can change every stack of the account.
 */
const protectProduction = (stages: readonly Stage[], stage: Stage, { account }: OpenedAccount) => {
  const production = stages
    .filter((each) => isProduction(each) && each.name !== stage.name)
    .find(({ env }) => env?.account === account);
  if (!production) return;
  const shared = `The credentials belong to the account ${account} of ${production.name}`;
  if (isPersonal(stage)) throw new Error(`${shared}: use others.`);
  console.error(
    `warning: ${shared}, which a release of ${stage.name} can change too. See "Prod" in infra/first-deployment.md.`,
  );
};

/**
 * Returns the words that give the stack its parameters. It would keep a value that a later deployment omits.
 */
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

/** Plans to execute a change set, and shows each change. */
const planOf = (
  deployment: Deployment,
  changes: readonly Change[],
  execute: () => Promise<void>,
): Plan => {
  const { stage, former } = deployment;
  const count = `${changes.length} resource${changes.length === 1 ? '' : 's'}`;
  const description = `${former ? 'Change' : 'Create'} ${count} of ${stackName(stage)}`;
  return {
    notices: [
      // The CDK has just printed its sign of success.
      'Nothing is deployed yet: this change is only prepared.',
      ...noticesOf(deployment),
      ...destructiveChangesIn(changes),
      ...(former ? linesOf(changes) : []),
    ],
    work: { description, run: execute },
  };
};

/** The program of `npm run deploy`. */
export const deployProgram = (setup: Setup): Command =>
  withStage(new Command('npm run deploy --'), 'the stage to deploy', setup.stages)
    .description(
      'Deploys what is checked out to a stage, by a change set that it shows first. Refuses to lose data.',
    )
    .option('--app <folder>', 'deploy the stacks that cdk synth wrote into this folder')
    .option('--all-at-once', 'move all traffic to new versions after their check, without a canary')
    .option('--revert', 'go back to an earlier commit, all at once')
    .option('--destructive', 'replace or remove a table, an index, the API or a custom domain too')
    .option('--yes', 'do not ask first')
    .action((options: DeployOptions) => deploy(setup, options));

if (import.meta.main) {
  const directory = projectDirectory;
  const isOnTerminal = process.stdout.isTTY === true;
  await runProgram(deployProgram({ stages, directory, ask: askInTerminal, isOnTerminal }));
}

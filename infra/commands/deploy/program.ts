import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '@aws-sdk/client-cloudformation';
import { Command } from 'commander';
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
import { isPersonal, isProduction, type Stage } from '../../settings/stages.ts';
import { findStack, type OpenedAccount, openAccount } from '../deployed-stack.ts';
import { type Plan, perform, requireConsent, type Step } from '../plan.ts';
import { type Addition, preflight } from '../preflight.ts';
import { change, withCleanup } from '../run-program.ts';
import { withStage } from '../stage-option.ts';
import { printStatus } from '../stage-status.ts';
import { type Ask, printable } from '../terminal.ts';
import type { Cdk } from './cdk.ts';
import {
  describeChangeSet,
  destructiveChangesIn,
  discardChangeSet,
  linesOf,
  newChangeSet,
  refuseLosses,
} from './change-set.ts';
import { checkedOutCommit, refuseToTakeBack } from './commit.ts';
import { printNextSteps } from './next-steps.ts';
import { findSettledStack, type SettledStack } from './settled-stack.ts';

/** What the program deploys with. */
interface Environment {
  /** The permanent stages. */
  readonly stages: readonly Stage[];
  /** What the owner of the repository sets, by default in `infra/settings/owner.ts`. */
  readonly owner?: Parameters<typeof placeholdersIn>[1];
  /** The folder of the project, with its commits. */
  readonly directory: string;
  readonly cdk: Cdk;
  /** Asks the operator to type something; undefined if there is no terminal. */
  readonly ask: Ask | undefined;
}

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
const deploy = async (environment: Environment, options: DeployOptions): Promise<void> => {
  const { directory, cdk, ask } = environment;
  const { stage, emulator, app, revert, yes } = options;
  const consent = { yes, ask };
  requireConsent(consent);
  const StackName = stackName(stage);
  const account = await openAccount(stage);
  protectProduction(environment, stage, account);

  const mustBeCommitted = !isPersonal(stage) && !emulator;
  const commit = checkedOutCommit(directory, mustBeCommitted);
  const former = await findSettledStack(stage, account);
  if (former && isProduction(stage) && !revert)
    refuseToTakeBack(directory, former.commit, StackName);
  const deployment = { ...options, account, commit, former };
  const lacks = await checkAccount(environment, deployment);

  const context = ['--context', `stage=${stage.name}`];
  if (emulator) context.push('--context', 'emulator=true');
  if (revert) context.push('--context', 'placeholders=allowed');
  const run = (...words: readonly string[]) => cdk(account.region, words);
  const folder = app ?? makeTemporaryFolder();
  if (app === undefined) await run('synth', StackName, '--quiet', ...context, '--output', folder);
  if (checkedOutCommit(directory, mustBeCommitted) !== commit)
    throw new Error('Files changed before they were synthesised: run the same command again.');
  // The CDK asks nothing, because this command shows what will change, and asks.
  const deployStack = (id: string, ...words: readonly string[]) =>
    run('deploy', id, '--app', folder, '--require-approval', 'never', ...words);

  const additions: Readonly<Record<Addition, Step>> = {
    bootstrap: {
      description: 'Bootstrap the account for the CDK: cdk bootstrap',
      run: () => run('bootstrap', `aws://${account.account}/${account.region}`, ...context),
    },
    logRole: {
      description: `Deploy ${accountStackName}: a role with which API Gateway writes logs`,
      run: () => deployStack(accountStackId(stage)),
    },
  };
  const steps = lacks.map((lack) => additions[lack]);
  if (steps.length > 0) await perform({ stage, ...account }, { notices: [], steps }, consent);

  const changeSet = newChangeSet(StackName);
  const named = ['--change-set-name', changeSet.ChangeSetName];
  const prepared = [...parametersOf(deployment), '--method', 'prepare-change-set', ...named];
  if (options.revertDrift) prepared.push('--revert-drift');
  const client = account.clients.cloudformation();
  let isExecuted = false;
  const discard = async () => {
    // Why a change set is not executed matters more than a failure to delete it.
    if (!isExecuted) await discardChangeSet(client, changeSet).catch(() => {});
  };
  await withCleanup(discard, async () => {
    await change(() => deployStack(StackName, ...prepared));
    const { changes, executionStatus } = await describeChangeSet(client, changeSet);
    if (executionStatus === 'UNAVAILABLE') {
      console.log('Nothing differs from what is deployed.');
      return;
    }
    if (executionStatus !== 'AVAILABLE')
      throw new Error(
        `${StackName} was deployed just now, so its change set is ${executionStatus}: run the same command again.`,
      );
    refuseLosses(changes, options);
    const execute = async () => {
      await refuseIfOutrun(deployment);
      isExecuted = true;
      await deployStack(StackName, '--method', 'execute-change-set', ...named);
    };
    await perform({ stage, ...account }, planOf(deployment, changes, execute), consent);
  });

  await printStatus(stage);
  await printNextSteps(stage, account, emulator);
};

/** Returns a new folder, which is removed when this process ends. */
const makeTemporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/**
 * Throws if a personal stage is deployed to the account of a stage in production, because a mistake would reach
 * clients. Warns of a permanent one, whose releases can change every stack of the account.
 */
const protectProduction = ({ stages }: Environment, stage: Stage, { account }: OpenedAccount) => {
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

/**
 * Returns what the account of a stage lacks and the deployment adds. Throws the problems that it has otherwise.
 * A pipeline adds nothing. Neither does a way back, which only prints the problems, because nothing of lesser
 * weight may prevent it.
 */
const checkAccount = async (
  { owner }: Environment,
  { stage, account, app, revert }: Deployment,
) => {
  const findings = await preflight(stage, account);
  const addsNothing = app !== undefined || revert === true;
  const lacks = addsNothing ? [] : findings.flatMap(({ addition }) => addition ?? []);
  const others = addsNothing ? findings : findings.filter(({ addition }) => !addition);
  const problems = [...placeholdersIn(stage, owner), ...others.map(({ problem }) => problem)];
  if (problems.length > 0 && !revert) throw new AggregateError(problems);
  for (const problem of problems) console.error(printable(`warning: ${problem}`));
  return lacks;
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
      ...noticesOf(deployment),
      ...destructiveChangesIn(changes),
      ...(former ? linesOf(changes) : []),
    ],
    steps: [{ description, run: execute }],
  };
};

/** Throws if the stack was deployed meanwhile. CloudFormation refuses the change set after any other update. */
const refuseIfOutrun = async ({ stage, account, former }: Deployment) => {
  const current = former && (await findStack(stage, account));
  if (current?.commit !== former?.commit)
    throw new Error(
      `${stackName(stage)} was deployed just now, and has the commit ${current?.commit}: run the same command again.`,
    );
};

/** The program of `npm run deploy`. */
export const deployProgram = (environment: Environment): Command =>
  withStage(new Command('npm run deploy --'), 'the stage to deploy', environment.stages)
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
    .action((options: DeployOptions) => deploy(environment, options));

import { randomUUID } from 'node:crypto';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { checkedOutCommit, refuseToTakeBack } from './deploy/commit.ts';
import { readDeployedTemplate } from './deploy/deployed-template.ts';
import { parseTemplate, refuseLosses } from './deploy/losses.ts';
import { printNextSteps } from './deploy/next-steps.ts';
import { findSettledStack, type SettledStack } from './deploy/settled-stack.ts';
import { type OpenedAccount, openAccount } from './shared/open-account.ts';
import { perform, requireConsent } from './shared/plan.ts';
import { printStatus } from './shared/print-status.ts';
import { runProgram, withCleanup } from './shared/run-program.ts';
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
  /** Whether its files must be committed. */
  readonly isPermanent: boolean;
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
  const deployment = { ...setup, ...options, account, isPermanent, commit, former };
  if (app === undefined) await deploySynthesised(deployment);
  else await deployFrom(deployment, app);

  await printStatus(stage);
  if (isPersonal(stage)) await printNextSteps(stage, isOnTerminal);
};

/** Synthesises the stack into a new folder, and deploys it, before the folder is removed. */
const deploySynthesised = async (deployment: Deployment): Promise<void> => {
  const { stage, account } = deployment;
  const { path, remove } = await mkdtempDisposable(join(tmpdir(), 'animal-store-'));
  const context = ['--context', `stage=${stage.name}`];
  if (stage.isEmulated) context.push('--context', 'emulator=true');
  const words = ['synth', stackName(stage), '--quiet', ...context, '--output', path];
  await withCleanup(remove, async () => {
    await cdk(account.region, words);
    await deployFrom(deployment, path);
  });
};

/**
 * Deploys the stack of a folder if the operator agrees, to whom the CDK shows what changes. Throws if it would
 * lose data without the operator's word.
 */
const deployFrom = async (deployment: Deployment, folder: string): Promise<void> => {
  const { stage, account, directory, isPermanent, commit, former } = deployment;
  const stack = stackName(stage);
  if (checkedOutCommit(directory, isPermanent) !== commit)
    throw new Error('Files changed before they were synthesised: run the same command again.');
  await makeWrappersExecutable(folder);
  if (former) {
    const next = await readFile(join(folder, `${stack}.template.json`), 'utf8');
    refuseLosses(await readDeployedTemplate(deployment), parseTemplate(next), deployment);
    // Only reads. Another method makes a change set, which Ctrl-C would leave in the stack.
    await cdk(account.region, ['diff', stack, '--app', folder, '--method', 'template']);
  }
  const plan = {
    notices: noticesOf(deployment),
    work: { description: `Deploy ${stack}`, run: () => runDeploy(deployment, folder) },
  };
  await perform({ ...account, stage }, plan, deployment);
};

/**
 * Lets the CDK deploy the stack of a folder, unless somebody else has changed the stack since this command
 * looked at it. CloudFormation refuses the change set of a second deployment that begins after this look. It
 * can't if the first one begins and ends before the CDK has made its change set, seconds after this look:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets-execute.html
 */
const runDeploy = async (deployment: Deployment, folder: string): Promise<void> => {
  const { stage, account, former } = deployment;
  const stack = stackName(stage);
  const current = await findSettledStack(stage, account);
  if (current?.commit !== former?.commit)
    throw new Error(`${stack} was changed just now by somebody else: run the same command again.`);
  // This command has asked.
  const words = ['deploy', stack, '--app', folder, '--require-approval', 'never'];
  // By its usual name, the CDK could execute the change set that somebody else's run has made meanwhile.
  words.push('--change-set-name', `npm-run-deploy-${randomUUID()}`);
  await cdk(account.region, [...words, ...parametersOf(deployment)]);
};

/**
 * Throws if a personal stage is deployed to the account of a stage in production, because a mistake would
 * reach clients. Warns of a permanent one, whose releases can change every stack of the account.
 */
const protectProduction = (stages: readonly Stage[], stage: Stage, { account }: OpenedAccount) => {
  const others = stages.filter(({ name }) => name !== stage.name);
  const production = others.find((each) => isProduction(each) && each.env?.account === account);
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

/** The program of `npm run deploy`. */
export const deployProgram = (setup: Setup): Command =>
  withStage(new Command('npm run deploy --'), 'the stage to deploy', setup.stages)
    .description(
      'Deploys what is checked out to a stage, after the CDK has shown the changes. Refuses to lose data.',
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

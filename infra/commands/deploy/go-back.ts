import {
  Capability,
  CloudFormationClient,
  CreateChangeSetCommand,
  DeleteChangeSetCommand,
  DescribeChangeSetCommand,
  ExecuteChangeSetCommand,
  waitUntilChangeSetCreateComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { bootstrapBucket, bootstrapRole } from '../../settings/bootstrap.ts';
import {
  commitParameter,
  stackName,
  templateParameter,
  trafficParameter,
} from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { type OpenedStack, openStack } from '../deployed-stack.ts';
import { announce, askInTerminal, confirm } from '../terminal.ts';
import {
  type ChangeSet,
  changesOf,
  destructiveChangesIn,
  newChangeSet,
  nothingDeployed,
} from './change-set.ts';
import { goodReleases, type Release, recordGood } from './good-releases.ts';

interface BackOptions {
  /** The only commit to leave. Without it, any commit that the stack has. */
  readonly ifCommit?: string;
  /** Goes back without asking first. */
  readonly yes?: true;
}

/**
 * The longest that an update can take, in seconds: CodeDeploy waits an hour for a check that never reports.
 */
const maxWaitTime = 7_200;

/**
 * Opens the stack of a stage. Throws while it is being changed, because its parameters then name a release
 * that may yet be rolled back, if its rollback has failed, or if it has another commit than the expected one.
 */
export const openSettledStack = async (
  stage: Stage,
  expected: string | undefined,
): Promise<OpenedStack> => {
  const StackName = stackName(stage);
  const stack = await openStack(stage);
  const { status = '', commit } = stack;
  if (status.endsWith('_IN_PROGRESS'))
    throw new Error(
      `${StackName} is ${status}. Wait for its end, or stop its deployments in CodeDeploy with a rollback. Before they begin, run: aws cloudformation cancel-update-stack --stack-name ${StackName}`,
    );
  if (!status.endsWith('_COMPLETE'))
    throw new Error(
      `${StackName} is ${status}, so it may have parts of two releases. See "canary-errors" in infra/runbook.md.`,
    );
  if (expected !== undefined && commit !== expected)
    throw new Error(`${StackName} has ${commit}, and not ${expected}. Nothing was changed.`);
  return stack;
};

/**
 * Deploys the last good release before the one that a stage has, all at once after its check, when the
 * operator agrees. Throws if there is none, if the stack has another commit than the one to leave, or if the
 * change set would lose data.
 */
export const goBack = async (stage: Stage, { ifCommit, yes }: BackOptions): Promise<void> => {
  const StackName = stackName(stage);
  const stack = await openSettledStack(stage, ifCommit);
  const { commit, cloudformation: client } = stack;
  const release = releaseBefore(commit, await goodReleases(stage));
  if (!release) throw new Error(`${stage.name} has no good release before ${commit}.`);

  const deployer = await deployerOf(stack);
  const changeSet = newChangeSet(StackName);
  await deployer.send(
    new CreateChangeSetCommand({ ...changeSet, ...inputOf(release, stage, stack) }),
  );
  try {
    const changes = await checkedChanges(stage, stack, changeSet);
    announce({ stage: stage.name, account: stack.account, region: stack.region }, [
      `Leave ${commit}, and deploy ${release.commit}, all at once after its check`,
      ...changes,
    ]);
    if (!yes) await confirm(askInTerminal, stage.name, ': add --yes');
    // First, so that going back again never returns to the release that is left, even if this one fails.
    await recordGood(stage, release);
    await deployer.send(new ExecuteChangeSetCommand(changeSet));
  } catch (error) {
    // Somebody could still execute it. Why it is not executed matters more than a failure to delete it.
    await client.send(new DeleteChangeSetCommand(changeSet)).catch(() => undefined);
    throw error;
  }
  const stillHas = (cause?: unknown) =>
    new Error(`${StackName} still has ${commit}: its events say why.`, { cause });
  await waitUntilStackUpdateComplete({ client, maxWaitTime }, { StackName }).catch((cause) => {
    throw stillHas(cause);
  });
  // The stack may be complete because its update has not begun.
  if ((await openStack(stage)).commit !== release.commit) throw stillHas();
  console.log(`${StackName} has ${release.commit}.`);
};

/** Returns the input of a change set that deploys a release. */
const inputOf = (
  { commit, template }: Release,
  { canaryMinutes }: Stage,
  { account, region, tags }: OpenedStack,
) => {
  const parameters = {
    [commitParameter]: commit,
    [templateParameter]: template,
    ...(canaryMinutes > 0 && { [trafficParameter]: 'all-at-once' }),
  };
  return {
    TemplateURL: `https://s3.${region}.amazonaws.com/${bootstrapBucket({ account, region })}/${template}`,
    Parameters: Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({
      ParameterKey,
      ParameterValue,
    })),
    Tags: tags,
    Capabilities: [Capability.CAPABILITY_IAM, Capability.CAPABILITY_NAMED_IAM],
  };
};

/**
 * Returns a line for each change of a change set. Throws if CloudFormation can't make it, if it would lose
 * data, or if the stack was deployed since it was opened.
 */
const checkedChanges = async (
  stage: Stage,
  { cloudformation: client, commit }: OpenedStack,
  changeSet: ChangeSet,
): Promise<string[]> => {
  await waitUntilChangeSetCreateComplete({ client, maxWaitTime }, changeSet).catch(async () => {
    const { StatusReason } = await client.send(new DescribeChangeSetCommand(changeSet));
    throw new Error(`CloudFormation made no change set: ${StatusReason}`);
  });
  const { changes } = await changesOf(client, changeSet);
  const problems = destructiveChangesIn(changes);
  // The change set belongs to what the stack has now. CloudFormation refuses it after any other update.
  if ((await openStack(stage)).commit !== commit)
    problems.push(`${stackName(stage)} was deployed just now.`);
  if (problems.length > 0) throw new AggregateError([...problems, nothingDeployed]);
  return changes.map(
    ({ ResourceChange: { Action, ResourceType, LogicalResourceId } = {} }) =>
      `${Action} ${ResourceType} ${LogicalResourceId}`,
  );
};

/** Returns the good release before a commit: the newest, if the commit is none of them. */
const releaseBefore = (commit: string, releases: readonly Release[]): Release | undefined => {
  const at = releases.findIndex((release) => release.commit === commit);
  return at === -1 ? releases.at(-1) : releases[at - 1];
};

/** Returns a client with CDK's deploy role, which may create change sets and read the templates. */
const deployerOf = async ({ account, region, config }: OpenedStack) => {
  const RoleArn = `arn:aws:iam::${account}:role/${bootstrapRole('deploy', { account, region })}`;
  const assume = new AssumeRoleCommand({ RoleArn, RoleSessionName: 'npm-run-deploy' });
  const { Credentials } = await new STSClient(config).send(assume);
  const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
  return new CloudFormationClient({
    ...config,
    credentials: {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
    },
  });
};

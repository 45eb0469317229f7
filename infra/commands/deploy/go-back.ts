import {
  Capability,
  CloudFormationClient,
  CreateChangeSetCommand,
  ExecuteChangeSetCommand,
  waitUntilChangeSetCreateComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { commitParameter, stackName, trafficParameter } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { announce, askInTerminal, confirm } from '../confirm.ts';
import { type OpenedStack, openStack } from '../deployed-stack.ts';
import { changesOf, lossesOf, newChangeSet, refuse } from './change-set.ts';
import { goodReleases, type Release, recordGood } from './good-releases.ts';

interface BackOptions {
  /** The commit to leave. By default the one that the stack has. */
  readonly leave?: string;
  /** Goes back without asking first. */
  readonly yes?: true;
}

/** The longest that an update can take, in seconds: CodeDeploy waits an hour for a check that never reports. */
const maxWaitTime = 7_200;

/**
 * Deploys the last good release before the one that a stage has, all at once after its check, when the
 * operator agrees. Throws if there is none, if the stack has another commit than the one to leave, or if the
 * change set would lose data.
 */
export const goBack = async (stage: Stage, { leave, yes }: BackOptions): Promise<void> => {
  const StackName = stackName(stage);
  const stack = await openStack(stage);
  const { account, region, status = '', commit, cloudformation: client } = stack;
  if (status.endsWith('_IN_PROGRESS'))
    throw new Error(
      `${StackName} is ${status}. Wait for its end, or stop its deployments in CodeDeploy with a rollback. Before they begin, run: aws cloudformation cancel-update-stack --stack-name ${StackName}`,
    );
  if (leave !== undefined && commit !== leave)
    throw new Error(`${StackName} has ${commit}, and not ${leave}. Nothing was changed.`);
  const release = releaseBefore(commit, await goodReleases(stage));
  if (!release) throw new Error(`${stage.name} has no good release before ${commit}.`);

  const deployer = await deployerOf(stack);
  const changeSet = newChangeSet(StackName);
  const Parameters = [{ ParameterKey: commitParameter, ParameterValue: release.commit }];
  if (stage.canaryMinutes !== undefined)
    Parameters.push({ ParameterKey: trafficParameter, ParameterValue: 'all-at-once' });
  await deployer.send(
    new CreateChangeSetCommand({
      ...changeSet,
      TemplateURL: release.template,
      Parameters,
      Tags: stack.tags,
      Capabilities: [Capability.CAPABILITY_IAM, Capability.CAPABILITY_NAMED_IAM],
    }),
  );
  await waitUntilChangeSetCreateComplete({ client, maxWaitTime }, changeSet);
  const { changes } = await changesOf(client, changeSet);
  const problems = lossesOf(changes);
  // The change set belongs to what the stack has now. CloudFormation refuses it after any other update.
  if ((await openStack(stage)).commit !== commit)
    problems.push(`${StackName} was deployed just now.`);
  if (problems.length > 0) await refuse(client, changeSet, problems);
  announce({ stage: stage.name, account: `${account}`, region }, [
    `Leave ${commit}, and deploy ${release.commit}, all at once after its check`,
    ...changes.map(
      ({ ResourceChange: { Action, ResourceType, LogicalResourceId } = {} }) =>
        `${Action} ${ResourceType} ${LogicalResourceId}`,
    ),
  ]);
  if (!yes) await confirm(askInTerminal, stage.name, ': add --yes');
  // First, so that a later way back never returns to the release that is left, even if this one fails.
  await recordGood(stage, release);
  await deployer.send(new ExecuteChangeSetCommand(changeSet));
  await waitUntilStackUpdateComplete({ client, maxWaitTime }, { StackName }).catch((cause) => {
    throw new Error(`${StackName} still has ${commit}: its events say why.`, { cause });
  });
  console.log(`${StackName} has ${release.commit}.`);
};

/** Returns the good release before a commit: the newest, if the commit is none of them. */
const releaseBefore = (commit: string, releases: readonly Release[]): Release | undefined => {
  const at = releases.findIndex((release) => release.commit === commit);
  return at === -1 ? releases.at(-1) : releases[at - 1];
};

/** Returns a client with CDK's deploy role, which may create change sets and read the templates. */
const deployerOf = async ({ account, region, config }: OpenedStack) => {
  const RoleArn = `arn:aws:iam::${account}:role/cdk-hnb659fds-deploy-role-${account}-${region}`;
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

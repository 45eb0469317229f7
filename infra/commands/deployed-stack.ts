import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { commitParameter, stackName, templateParameter } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { awsConfig } from './aws-config.ts';

/**
 * Returns the account and the region of a stage, which are those of the credentials if it has none. Throws
 * when the credentials belong to another account.
 */
export const openAccount = async (stage: Stage) => {
  const config = await awsConfig(stage);
  const client = new STSClient(config);
  const region = await client.config.region();
  const { Account: account = '' } = await client.send(new GetCallerIdentityCommand());
  const expected = stage.environment?.account;
  if (expected !== undefined && expected !== account)
    throw new Error(
      `The credentials belong to the account ${account}, and the stage to ${expected}`,
    );
  return { config, account, region };
};

export type OpenedAccount = Awaited<ReturnType<typeof openAccount>>;

/**
 * Tells whether a stack does not exist. CloudFormation has no type of its own for this error: a name that it
 * refuses is a ValidationError, too.
 */
const isNoStack = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'ValidationError' &&
  error.message.endsWith('does not exist');

/**
 * Opens the stack of a deployed stage, with its status, tags and outputs, and the commit and the file of the
 * template that it has, which are `unknown` if it was deployed without them. Throws when there is no stack,
 * or when the credentials belong to another account, which could have a stack of the same name.
 */
export const openStack = async (stage: Stage) => {
  const { config, account, region } = await openAccount(stage);
  const cloudformation = new CloudFormationClient(config);
  const command = new DescribeStacksCommand({ StackName: stackName(stage) });
  const { Stacks: [stack] = [] } = await cloudformation.send(command).catch((error: unknown) => {
    if (!isNoStack(error)) throw error;
    throw new Error(`There is no stage ${stage.name} in account ${account}, region ${region}`);
  });
  const parameterOf = (name: string): string => {
    const parameter = stack?.Parameters?.find(({ ParameterKey }) => ParameterKey === name);
    return parameter?.ParameterValue ?? 'unknown';
  };
  const outputOf = (name: string): string => {
    const output = stack?.Outputs?.find(({ OutputKey }) => OutputKey === name);
    if (output?.OutputValue !== undefined) return output.OutputValue;
    throw new Error(`The stack of ${stage.name} has no output ${name}: deploy it first`);
  };
  return {
    config,
    account,
    region,
    status: stack?.StackStatus,
    commit: parameterOf(commitParameter),
    template: parameterOf(templateParameter),
    tags: stack?.Tags ?? [],
    cloudformation,
    outputOf,
  };
};

export type OpenedStack = Awaited<ReturnType<typeof openStack>>;

/**
 * Returns the resources of a stage's stack as it is deployed, all or of one type. Only a stack that does not
 * exist has none.
 */
export const deployedResources = async (
  stage: Stage,
  { config }: Pick<OpenedAccount, 'config'>,
  type?: string,
) => {
  const client = new CloudFormationClient(config);
  const pages = paginateListStackResources({ client }, { StackName: stackName(stage) });
  const found = await Array.fromAsync(pages).catch((error: unknown) => {
    if (isNoStack(error)) return [];
    throw error;
  });
  return found
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .filter(({ ResourceStatus }) => ResourceStatus !== 'DELETE_COMPLETE')
    .filter(({ ResourceType }) => type === undefined || ResourceType === type);
};

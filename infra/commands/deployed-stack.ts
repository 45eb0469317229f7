import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { commitParameter, stackName } from '../settings/names.ts';
import { regionOf } from '../settings/region-of.ts';
import type { Stage } from '../settings/stages.ts';

/** The commit that a stack says it has; `unknown` if it was deployed without one. */
const commitOf = (stack?: Stack): string =>
  stack?.Parameters?.find(({ ParameterKey }) => ParameterKey === commitParameter)?.ParameterValue ??
  'unknown';

/**
 * Opens the stack of a deployed stage, with its status, commit, tags and outputs. Throws when the credentials
 * belong to another account, which could have a stack of the same name.
 */
export const openStack = async (stage: Stage) => {
  const config = regionOf(stage);
  const { Account } = await new STSClient(config).send(new GetCallerIdentityCommand());
  const { account = Account } = stage.environment ?? {};
  if (Account !== account)
    throw new Error(
      `The credentials belong to the account ${Account}, and the stage to ${account}`,
    );
  const cloudformation = new CloudFormationClient(config);
  const command = new DescribeStacksCommand({ StackName: stackName(stage) });
  const { Stacks: [stack] = [] } = await cloudformation.send(command);
  const outputOf = (name: string): string => {
    const output = stack?.Outputs?.find(({ OutputKey }) => OutputKey === name);
    if (output?.OutputValue !== undefined) return output.OutputValue;
    throw new Error(`The stack of ${stage.name} has no output ${name}: deploy it first`);
  };
  const region = await cloudformation.config.region();
  return {
    config,
    account,
    region,
    status: stack?.StackStatus,
    commit: commitOf(stack),
    tags: stack?.Tags ?? [],
    cloudformation,
    outputOf,
  };
};

export type OpenedStack = Awaited<ReturnType<typeof openStack>>;

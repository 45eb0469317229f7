import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackName } from '../settings/names.ts';
import { regionOf } from '../settings/region-of.ts';
import type { Stage } from '../settings/stages.ts';

/**
 * Opens the stack of a deployed stage, with its outputs. Throws when the credentials belong to
 * another account, which could have a stack of the same name.
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
  return { config, account, region, cloudformation, outputOf };
};

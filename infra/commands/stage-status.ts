import { stackName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { deployedResources, openStage } from './deployed-stack.ts';
import { printable } from './terminal.ts';

/**
 * Prints the status, the address, the commits and the logs of a deployed stage. Throws when it has no stack, or
 * when the credentials belong to another account.
 */
export const printStatus = async (stage: Stage): Promise<void> => {
  const stack = await openStage(stage);
  const { account, region, status, baseAddress, commit, previousCommit } = stack;
  const logs = await deployedResources(stage, stack, 'AWS::Logs::LogGroup');
  const lines = [
    `Stage ${stage.name}, account ${account}, region ${region}`,
    `Status           ${status}`,
    `Base address     ${baseAddress ?? 'none, because the first deployment has not succeeded'}`,
    `Commit           ${commit}`,
    `Previous commit  ${previousCommit}`,
    `Logs             https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:log-groups$3FlogGroupNameFilter$3D${stackName(stage)}`,
    ...logs.map(
      ({ PhysicalResourceId }) => `aws logs tail ${PhysicalResourceId} --follow --region ${region}`,
    ),
  ];
  for (const line of lines) console.log(printable(line));
};

import { stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { deployedResources } from './deployed-stack.ts';
import { findTable } from './find-table.ts';
import { type DeployedStage, openStage } from './open-stage.ts';
import { printable } from './terminal.ts';

/**
 * Prints the status, the address, the commits, the tables, and the logs of a deployed stage. Throws
 * when it has no stack, or when the credentials belong to another account.
 */
export const printStatus = async (stage: Stage): Promise<void> => {
  const stack = await openStage(stage);
  const { account, region, status, baseAddress, commit, previousCommit } = stack;
  const resources = await deployedResources(stage, stack);
  const logs = resources.filter(({ ResourceType }) => ResourceType === 'AWS::Logs::LogGroup');
  const lines = [
    `Stage ${stage.name}, account ${account}, region ${region}`,
    `Status           ${status}`,
    `Base address     ${baseAddress ?? 'none, because the first deployment has not succeeded'}`,
    `Commit           ${commit}`,
    `Previous commit  ${previousCommit}`,
    `Logs             https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:log-groups$3FlogGroupNameFilter$3D${stackName(stage)}`,
    ...(await tableLines(stack, resources)),
    ...logs.map(
      ({ PhysicalResourceId }) => `aws logs tail ${PhysicalResourceId} --follow --region ${region}`,
    ),
  ];
  for (const line of lines) console.log(printable(line));
};

/** Returns a line about each table. A role that may not look for a table does not learn that it is gone. */
const tableLines = async (
  { dynamodb }: DeployedStage,
  resources: Awaited<ReturnType<typeof deployedResources>>,
): Promise<string[]> => {
  const lines: string[] = [];
  for (const { ResourceType, PhysicalResourceId: name = '' } of resources) {
    if (ResourceType !== 'AWS::DynamoDB::Table') continue;
    const isGone = await findTable(dynamodb, name).then(
      (found) => found === undefined,
      (error: unknown) => {
        if (error instanceof Error && error.name === 'AccessDeniedException') return false;
        throw error;
      },
    );
    lines.push(
      `Table            ${name}${isGone ? ' is gone: see "restore" in infra/runbook.md' : ''}`,
    );
  }
  return lines;
};

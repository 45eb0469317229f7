import {
  type Change,
  type CloudFormationClient,
  paginateDescribeChangeSet,
} from '@aws-sdk/client-cloudformation';

/** What clients would miss: stored data, and the address of the API. */
const kept: ReadonlySet<string | undefined> = new Set([
  'AWS::DynamoDB::Table',
  'AWS::ApiGateway::RestApi',
]);

/** The changes of a change set that CloudFormation has created; none if nothing differs. */
export const readChanges = async (
  client: CloudFormationClient,
  StackName: string,
  ChangeSetName: string,
): Promise<Change[]> => {
  const changes: Change[] = [];
  const changeSet = { StackName, ChangeSetName };
  for await (const page of paginateDescribeChangeSet({ client }, changeSet)) {
    changes.push(...(page.Changes ?? []));
  }
  return changes;
};

/**
 * A line for each change that replaces or removes a table or the API. What is not known to keep them counts as such.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html
 */
export const lossesOf = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ ResourceChange: { ResourceType, LogicalResourceId, ...change } = {} }) => {
    const { Action = '', Replacement } = change;
    if (!kept.has(ResourceType) || ['Add', 'Import'].includes(Action)) return [];
    // `Conditional`: CloudFormation decides while it deploys.
    if (Action === 'Modify' && Replacement === 'False') return [];
    const what = Action === 'Modify' ? `Modify with Replacement ${Replacement}` : Action;
    return [`${ResourceType} ${LogicalResourceId}: ${what}.`];
  });

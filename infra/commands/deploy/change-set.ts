import type { Change } from '@aws-sdk/client-cloudformation';

/** The types of resources that hold stored data or the address of the API. */
const kept: ReadonlySet<string> = new Set(['AWS::DynamoDB::Table', 'AWS::ApiGateway::RestApi']);

/**
 * Returns a line for each change that replaces or removes a table or the API. A change
 * that may do so counts too.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html
 */
export const lossesOf = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ ResourceChange = {} }) => {
    const { ResourceType = '', LogicalResourceId, Action = '', Replacement } = ResourceChange;
    // With `Conditional`, CloudFormation decides while it deploys.
    const what = Action === 'Modify' ? `Modify with Replacement ${Replacement}` : Action;
    const isHarmless = ['Add', 'Import', 'Modify with Replacement False'].includes(what);
    if (isHarmless || !kept.has(ResourceType)) return [];
    return [`${ResourceType} ${LogicalResourceId}: ${what}.`];
  });

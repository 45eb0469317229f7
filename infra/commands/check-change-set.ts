import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';

/** What clients would miss: stored data, and the address of the API. */
const kept: ReadonlySet<string> = new Set(['AWS::DynamoDB::Table', 'AWS::ApiGateway::RestApi']);

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html */
const ChangeSet = z.object({
  Changes: z.array(
    z.object({
      ResourceChange: z.object({
        Action: z.string(),
        ResourceType: z.string(),
        LogicalResourceId: z.string(),
        Replacement: z.optional(z.string()),
      }),
    }),
  ),
});

/** Reads the JSON of `aws cloudformation describe-change-set`, and exits with 1 if a table or the API would be lost. */
const { Changes } = ChangeSet.parse(JSON.parse(await text(process.stdin)));
const refused = Changes.map(({ ResourceChange }) => ResourceChange).filter(
  ({ ResourceType, Action, Replacement }) =>
    kept.has(ResourceType) &&
    !['Add', 'Import'].includes(Action) &&
    // `Conditional`: CloudFormation decides while it deploys.
    !(Action === 'Modify' && Replacement === 'False'),
);
for (const { Action, ResourceType, LogicalResourceId, Replacement } of refused) {
  const change = Action === 'Modify' ? `Modify with Replacement ${Replacement}` : Action;
  console.error(`error: ${ResourceType} ${LogicalResourceId}: ${change}. See infra/README.md.`);
}
if (refused.length > 0) process.exitCode = 1;

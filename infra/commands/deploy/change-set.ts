import { randomUUID } from 'node:crypto';
import {
  type Change,
  ChangeSetNotFoundException,
  type CloudFormationClient,
  DeleteChangeSetCommand,
  ExecutionStatus,
  InvalidChangeSetStatusException,
  paginateDescribeChangeSet,
  type ResourceChange,
  waitForChangeSetCreateComplete,
} from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { notOfAws } from '../shared/open-account.ts';

/** Describes a change set: its changes, with property values, and whether it can be executed. */
export const describeChangeSet = async (client: CloudFormationClient, changeSet: ChangeSet) => {
  const input = { ...changeSet, IncludePropertyValues: true };
  const pages = await Array.fromAsync(paginateDescribeChangeSet({ client }, input)).catch(
    (error: unknown) => {
      if (!(error instanceof ChangeSetNotFoundException)) throw error;
      return [{ ExecutionStatus: ExecutionStatus.OBSOLETE, Changes: [] }];
    },
  );
  if (pages.some(({ ExecutionStatus, Changes }) => !ExecutionStatus && !Changes))
    throw notOfAws('CloudFormation DescribeChangeSet');
  return {
    /**
     * `AVAILABLE`, also if only outputs differ (https://github.com/aws/aws-cdk/pull/2029); `UNAVAILABLE` if
     * nothing differs; `OBSOLETE`, also if it is deleted, after another change set of the stack was executed.
     * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeChangeSet.html
     */
    executionStatus: pages[0]?.ExecutionStatus,
    changes: pages.flatMap(({ Changes = [] }) => Changes),
  };
};

/** The types of resources that hold stored data or the address of the API. */
const kept: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::RestApi',
  'AWS::DynamoDB::Table',
]);

/**
 * Returns a line for each change that replaces or removes a table, the API or a custom domain, or removes an
 * index of a table. A change that may do so counts too. The change set must be described with its property
 * values.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html
 */
export const destructiveChangesIn = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ ResourceChange = {} }) => {
    const { ResourceType = '', LogicalResourceId, Action = '', Replacement } = ResourceChange;
    if (!kept.has(ResourceType)) return [];
    // With `Conditional`, CloudFormation decides while it deploys.
    const what = Action === 'Modify' ? `Modify with Replacement ${Replacement}` : Action;
    if (!['Add', 'Import', 'Modify with Replacement False'].includes(what))
      return [`${ResourceType} ${LogicalResourceId}: ${what}.`];
    return removedIndexesOf(ResourceChange).map(
      (index) => `${ResourceType} ${LogicalResourceId}: Remove of ${index}.`,
    );
  });

/** What CloudFormation tells of a resource before or after a change. */
const Context = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    Properties: v.object({
      GlobalSecondaryIndexes: v.optional(v.array(v.object({ IndexName: v.string() })), []),
    }),
  }),
);

const indexesIn = (context: string) =>
  v.parse(Context, context).Properties.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);

const changesIndexes = ({ Details = [] }: ResourceChange) =>
  Details.some(({ Target }) => Target?.Name === 'GlobalSecondaryIndexes');

/** Returns the indexes that a modified table loses. If the change names no indexes, one may be lost. */
const removedIndexesOf = (change: ResourceChange) => {
  const { BeforeContext, AfterContext } = change;
  if (!changesIndexes(change)) return [];
  if (BeforeContext === undefined || AfterContext === undefined)
    return [
      'an index, because CloudFormation names none. On an emulator, which never does, --destructive goes on',
    ];
  const remaining = indexesIn(AfterContext);
  return indexesIn(BeforeContext).filter((name) => !remaining.includes(name));
};

/**
 * Returns a line for each index that needs a release of its own: a table takes one new index in an update,
 * and a new version that fails in the same release would delete the index with it, after hours of building
 * it. A way back adds none, because it would wait for these hours.
 * https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/229
 */
const indexesToAddAlone = (changes: readonly Change[], revert: boolean): string[] => {
  const all = changes.flatMap(({ ResourceChange }) => ResourceChange ?? []);
  const added = all.flatMap((change) => {
    const { Action, LogicalResourceId, BeforeContext, AfterContext } = change;
    if (Action !== 'Modify' || !changesIndexes(change) || !BeforeContext || !AfterContext)
      return [];
    const former = indexesIn(BeforeContext);
    const names = indexesIn(AfterContext).filter((name) => !former.includes(name));
    return names.map((name) => `${LogicalResourceId}: Add of ${name}`);
  });
  const hasNewVersion = all.some(
    ({ ResourceType, Action }) => ResourceType === 'AWS::Lambda::Version' && Action === 'Add',
  );
  if (added.length <= (hasNewVersion || revert ? 0 : 1)) return [];
  return added.map((index) => `${index} needs a release of its own, before the code that uses it.`);
};

/** Returns a new name for a change set of a stack. */
export const newChangeSet = (StackName: string) => {
  return { StackName, ChangeSetName: `npm-run-deploy-${randomUUID()}` };
};

export type ChangeSet = ReturnType<typeof newChangeSet>;

/**
 * Deletes a change set, which somebody could still execute. Waits until CloudFormation has prepared it, for
 * at most a minute:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteChangeSet.html
 */
export const discardChangeSet = async (client: CloudFormationClient, changeSet: ChangeSet) => {
  const discard = () => client.send(new DeleteChangeSetCommand(changeSet));
  await discard().catch(async (error: unknown) => {
    if (!(error instanceof InvalidChangeSetStatusException)) throw error;
    const seconds = { minDelay: 1, maxDelay: 5, maxWaitTime: 60 };
    await waitForChangeSetCreateComplete({ client, ...seconds }, changeSet);
    await discard();
  });
};

interface LossOptions {
  /** Whether an earlier commit is deployed. */
  readonly revert?: true;
  /** Whether the operator accepts what is lost. */
  readonly destructive?: true;
}

/**
 * Throws if changes lose stored data, an index or the address of the API, unless the operator accepts that,
 * or if they add an index that needs a release of its own.
 */
export const refuseLosses = (
  changes: readonly Change[],
  { revert, destructive }: LossOptions,
): void => {
  const problems = indexesToAddAlone(changes, revert === true);
  if (!destructive) problems.push(...destructiveChangesIn(changes));
  if (problems.length === 0) return;
  const next = revert
    ? 'Correct the fault in a hotfix instead: see "Hotfix" in infra/releases.md.'
    : 'See "Tables and indexes" in infra/releases.md.';
  throw new AggregateError([...problems, `Nothing was deployed. ${next}`]);
};

/** Returns a line about each resource that a change set changes. */
export const linesOf = (changes: readonly Change[]): string[] =>
  changes.map(
    ({ ResourceChange: { Action, ResourceType, LogicalResourceId } = {} }) =>
      `${Action} ${ResourceType} ${LogicalResourceId}`,
  );

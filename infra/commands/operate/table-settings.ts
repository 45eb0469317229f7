import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  ListTagsOfResourceCommand,
  ResourceNotFoundException,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { maximumUnitsOf } from '../../settings/maximum-units.ts';
import { stageTags } from '../../settings/names.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';
import { NotYet, waitFor } from './wait-for.ts';

type Dynamodb = OperatedStage['dynamodb'];

/** Returns a table, or `undefined` if there is none of this name. */
export const findTable = async (dynamodb: Dynamodb, TableName: string) => {
  try {
    return (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** Returns a table of a stage with its name. Throws if it is gone. */
export const existingTable = async (
  { dynamodb, stage, tableOf }: OperatedStage,
  kind: TableKind,
) => {
  const name = tableOf(kind);
  const table = await findTable(dynamodb, name);
  if (table) return { ...table, name };
  throw new Error(
    `The table ${name} is gone: npm run operate -- restore ${kind} --stage ${stage.name}`,
  );
};

/** Waits until a table and its indexes are active, for at most a day: a restore can take hours. */
export const waitForTable = (dynamodb: Dynamodb, name: string) =>
  waitFor('1d', async () => {
    const { TableStatus = 'not found', GlobalSecondaryIndexes = [] } =
      (await findTable(dynamodb, name)) ?? {};
    if (TableStatus !== 'ACTIVE') throw new NotYet(`The table ${name} is ${TableStatus}`);
    for (const { IndexName, IndexStatus = 'ACTIVE' } of GlobalSecondaryIndexes)
      if (IndexStatus !== 'ACTIVE') throw new NotYet(`Its index ${IndexName} is ${IndexStatus}`);
  });

const settingsOf = async (dynamodb: Dynamodb, TableName: string) => {
  const table = await findTable(dynamodb, TableName);
  if (!table) return undefined;
  const list = new ListTagsOfResourceCommand({ ResourceArn: table.TableArn });
  const { Tags = [] } = await dynamodb.send(list);
  const describe = new DescribeContinuousBackupsCommand({ TableName });
  const { ContinuousBackupsDescription: backups } = await dynamodb.send(describe);
  const tags = new Map(Tags.map(({ Key, Value }) => [Key, Value]));
  return { ...table, tags, recovery: backups?.PointInTimeRecoveryDescription };
};

type Settings = NonNullable<Awaited<ReturnType<typeof settingsOf>>>;

/**
 * Returns the steps that give a table what its stage declares and AWS does not restore: tags, recovery,
 * protection and limits. A step is done if the table has its setting, and fails if the table lacks an index
 * that its stage declares, because the backup is older.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
 */
export const tableSettings = (
  { dynamodb, stage, tableOf }: OperatedStage,
  kind: TableKind,
  ResourceArn: string,
): Step[] => {
  const TableName = tableOf(kind);
  const ready = () => waitForTable(dynamodb, TableName);
  const unless = (isSo: (table: Settings) => boolean, step: Step): Step => ({
    ...step,
    isDone: async () => {
      const settings = await settingsOf(dynamodb, TableName);
      return settings !== undefined && isSo(settings);
    },
  });
  const update = (change: object) =>
    call(dynamodb, new UpdateTableCommand({ TableName, ...change }), ready);
  const tags = Object.entries(stageTags(stage));
  const Tags = tags.map(([Key, Value]) => ({ Key, Value }));
  const { read, write } = maximumUnitsOf(stage);
  const OnDemandThroughput = { MaxReadRequestUnits: read, MaxWriteRequestUnits: write };
  const declared = tables[kind].indexes.map(({ name }) => name);
  const indexOf = ({ GlobalSecondaryIndexes = [] }: Settings, name: string) =>
    GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === name);
  const GlobalSecondaryIndexUpdates = declared.map((IndexName) => ({
    Update: { IndexName, OnDemandThroughput },
  }));
  const days = stage.pointInTimeRecoveryDays;
  const recovery = {
    PointInTimeRecoveryEnabled: days > 0,
    ...(days > 0 && { RecoveryPeriodInDays: days }),
  };
  const DeletionProtectionEnabled = stage.deletionProtection;
  return [
    unless(
      (table) => tags.every(([name, value]) => table.tags.get(name) === value),
      call(dynamodb, new TagResourceCommand({ ResourceArn, Tags })),
    ),
    unless(
      (table) => (table.recovery?.RecoveryPeriodInDays ?? 0) === days,
      call(
        dynamodb,
        new UpdateContinuousBackupsCommand({
          TableName,
          PointInTimeRecoverySpecification: recovery,
        }),
      ),
    ),
    unless(
      (table) => (table.DeletionProtectionEnabled ?? false) === DeletionProtectionEnabled,
      update({ DeletionProtectionEnabled }),
    ),
    ...declared.map((name) =>
      unless((table) => indexOf(table, name) !== undefined, {
        description: `Check that the table ${TableName} has the index ${name}`,
        run: async () => {
          throw new Error(
            `The table ${TableName} lacks the index ${name}: create it as infra/settings/tables.ts declares it, and run the command again`,
          );
        },
      }),
    ),
    unless(
      (table) =>
        [table, ...declared.map((name) => indexOf(table, name))].every(
          (each) =>
            each?.OnDemandThroughput?.MaxReadRequestUnits === read &&
            each.OnDemandThroughput.MaxWriteRequestUnits === write,
        ),
      update({
        OnDemandThroughput,
        ...(declared.length > 0 && { GlobalSecondaryIndexUpdates }),
      }),
    ),
  ];
};

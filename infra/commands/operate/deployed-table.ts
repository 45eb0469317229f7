import { DescribeContinuousBackupsCommand } from '@aws-sdk/client-dynamodb';
import type { TableKind } from '../../settings/tables.ts';
import { findTable, restoreCommand } from '../find-table.ts';
import type { DeployedStage } from '../open-stage.ts';
import { NotYet, waitFor } from '../wait-for.ts';

type Dynamodb = DeployedStage['dynamodb'];

/** Returns the point-in-time recovery of a table, with its status, days and times. */
export const recoveryOf = async (dynamodb: Dynamodb, TableName: string) => {
  const describe = new DescribeContinuousBackupsCommand({ TableName });
  const { ContinuousBackupsDescription: backups } = await dynamodb.send(describe);
  return backups?.PointInTimeRecoveryDescription ?? {};
};

/** Returns a table of a stage with its name. Throws if it is gone or being deleted. */
export const existingTable = async (
  { dynamodb, stage, tableOf }: DeployedStage,
  kind: TableKind,
) => {
  const name = tableOf(kind);
  const table = await findTable(dynamodb, name);
  if (table && table.TableStatus !== 'DELETING') return { ...table, name };
  throw new Error(
    `The table ${name} is ${table ? 'being deleted' : 'gone'}: ${restoreCommand(kind, stage)}`,
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

import {
  type BackupSummary,
  DescribeBackupCommand,
  ListBackupsCommand,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
} from '@aws-sdk/client-dynamodb';
import type { TableKind } from '../../settings/tables.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';
import { findTable, tableSettings, waitForTable } from './table-settings.ts';

const copyOf = (table: string) => `${table}-restored`;

/** Plans a copy of a table, `<name>-restored`, as it was at a time. Its table stays as it is. */
export const restoreCopy = (
  { dynamodb, tableOf }: OperatedStage,
  kind: TableKind,
  RestoreDateTime: Date,
): Step[] => {
  const SourceTableName = tableOf(kind);
  const TargetTableName = copyOf(SourceTableName);
  const restoration = { SourceTableName, TargetTableName, RestoreDateTime };
  const ready = () => waitForTable(dynamodb, TargetTableName);
  return [call(dynamodb, new RestoreTableToPointInTimeCommand(restoration), ready)];
};

/**
 * Plans to restore a table that is gone, from a backup of it or of its copy, by default from its newest. If
 * the table exists, waits until it is active, and plans the settings that it lacks.
 */
export const restore = async (
  opened: OperatedStage,
  kind: TableKind,
  backup?: string,
): Promise<Step[]> => {
  const { dynamodb } = opened;
  const TargetTableName = opened.tableOf(kind);
  const table = await findTable(dynamodb, TargetTableName);
  if (table && backup !== undefined) throw new Error(`The table ${TargetTableName} exists`);
  if (table) {
    await waitForTable(dynamodb, TargetTableName);
    return tableSettings(opened, kind, `${table.TableArn}`);
  }
  const BackupArn = backup ?? (await newestBackup(opened, TargetTableName));
  const { BackupDescription } = await dynamodb.send(new DescribeBackupCommand({ BackupArn }));
  const source = `${BackupDescription?.SourceTableDetails?.TableName}`;
  if (![TargetTableName, copyOf(TargetTableName)].includes(source))
    throw new Error(`The backup is one of ${source}, and not of ${TargetTableName}`);
  const restoration = new RestoreTableFromBackupCommand({ BackupArn, TargetTableName });
  const ready = () => waitForTable(dynamodb, TargetTableName);
  return [
    call(dynamodb, restoration, ready),
    ...tableSettings(opened, kind, BackupArn.replace(/\/.*/, `/${TargetTableName}`)),
  ];
};

/** Returns the newest backup. DynamoDB makes one when a table with point-in-time recovery is deleted. */
const newestBackup = async ({ dynamodb }: OperatedStage, TableName: string): Promise<string> => {
  const backups: BackupSummary[] = [];
  let ExclusiveStartBackupArn: string | undefined;
  do {
    const list = { TableName, BackupType: 'ALL', ExclusiveStartBackupArn } as const;
    const page = await dynamodb.send(new ListBackupsCommand(list));
    backups.push(...(page.BackupSummaries ?? []));
    ExclusiveStartBackupArn = page.LastEvaluatedBackupArn;
  } while (ExclusiveStartBackupArn !== undefined);
  const newest = backups
    .toSorted(
      (left, right) => Number(left.BackupCreationDateTime) - Number(right.BackupCreationDateTime),
    )
    .at(-1);
  if (newest?.BackupArn === undefined) throw new Error(`DynamoDB has no backup of ${TableName}`);
  return newest.BackupArn;
};

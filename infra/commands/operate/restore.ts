import {
  BackupInUseException,
  DescribeBackupCommand,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
  TableAlreadyExistsException,
  type TableDescription,
  TableInUseException,
} from '@aws-sdk/client-dynamodb';
import { isPersonal } from '../../settings/stages.ts';
import type { TableKind } from '../../settings/tables.ts';
import { backupsOf, isOfTable } from '../backups.ts';
import { findTable, restoreCommand } from '../find-table.ts';
import type { DeployedStage } from '../open-stage.ts';
import { call, type Plan } from '../plan.ts';
import { stageWords } from '../stage-option.ts';
import { printable } from '../terminal.ts';
import { NotYet, waitFor } from '../wait-for.ts';
import { existingTable, recoveryOf, waitForTable } from './deployed-table.ts';
import { missingSettings } from './missing-settings.ts';
import { operatedTables } from './operated-tables.ts';

/**
 * Plans a copy of a table as it was at a time, `<name>-20260131T030000Z`. The table stays as it is. If the
 * copy exists, waits until it is active.
 */
export const restoreCopy = async (
  opened: DeployedStage,
  kind: TableKind,
  RestoreDateTime: Date,
): Promise<Plan> => {
  const { dynamodb, stage } = opened;
  const { name: SourceTableName } = await existingTable(opened, kind);
  const time = RestoreDateTime.toISOString();
  const TargetTableName = `${SourceTableName}-${time.replaceAll(/[-:]|\.\d+/g, '')}`;
  const recovery = await recoveryOf(dynamodb, SourceTableName);
  const { PointInTimeRecoveryStatus, EarliestRestorableDateTime } = recovery;
  if (PointInTimeRecoveryStatus !== 'ENABLED')
    throw new Error(
      `${SourceTableName} has no point-in-time recovery, so it can't be copied as of any time. ${
        isPersonal(stage)
          ? 'Personal stages have none.'
          : `To turn it on from now on, set pointInTimeRecoveryDays in infra/settings/stages.ts, and run: ${restoreCommand(kind, stage)}`
      }`,
    );
  // It is typically 5 minutes before the current time:
  // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PointInTimeRecoveryDescription.html
  const waitForTime = () =>
    waitFor('15m', async () => {
      const { LatestRestorableDateTime: latest } = await recoveryOf(dynamodb, SourceTableName);
      if (latest && latest >= RestoreDateTime) return;
      throw new NotYet(`Recovery has not reached ${time}, but ${latest?.toISOString()}`);
    });
  const restoration = { SourceTableName, TargetTableName, RestoreDateTime };
  const copy = new RestoreTableToPointInTimeCommand(restoration);
  const present = await findTable(dynamodb, TargetTableName);
  if (present?.TableStatus === 'DELETING')
    throw new Error(
      `The table ${TargetTableName} is being deleted: take a time a second earlier, or run this again when it is gone`,
    );
  const exists = present !== undefined;
  if (!exists && EarliestRestorableDateTime && RestoreDateTime < EarliestRestorableDateTime)
    throw new Error(
      `${SourceTableName} can only be copied as of ${EarliestRestorableDateTime.toISOString()} and later`,
    );
  const start = {
    ...call(dynamodb, copy),
    run: async () => {
      await waitForTime();
      await startOnce(dynamodb, TargetTableName, () => dynamodb.send(copy));
    },
  };
  const wait = {
    description: `Wait until ${TargetTableName} is complete, which can take hours`,
    run: async () => {
      await waitForTable(dynamodb, TargetTableName);
      console.log(
        `The copy is complete: npm run operate -- copy-back ${kind} ${TargetTableName} ${stageWords(stage)}`,
      );
    },
  };
  return {
    notices: ['Clients notice nothing.'],
    steps: exists ? [wait] : [start, wait],
  };
};

/**
 * Sends the call that starts to restore a table, and accepts that an attempt whose response was lost has started
 * it: then DynamoDB refuses the next one, because the table exists or its backup is in use. Returns that table.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
 */
const startOnce = (
  dynamodb: DeployedStage['dynamodb'],
  name: string,
  send: () => Promise<unknown>,
): Promise<TableDescription | undefined> =>
  waitFor('1h', async () => {
    try {
      await send();
      return undefined;
    } catch (error) {
      const mayHaveStarted =
        error instanceof TableAlreadyExistsException ||
        error instanceof TableInUseException ||
        error instanceof BackupInUseException;
      const table = mayHaveStarted ? await findTable(dynamodb, name) : undefined;
      if (!table) throw error;
      return table;
    }
  });

/** Says that a table was restored from another backup, or returns `undefined` if nothing says so. */
const otherBackup = (
  { TableName, RestoreSummary }: TableDescription,
  backup: string | undefined,
): string | undefined => {
  const source = RestoreSummary?.SourceBackupArn;
  if (!backup || !source || source === backup) return undefined;
  return `The table was restored from another backup, ${source}. To get items of ${backup}, restore it to a table whose name starts with ${TableName}-, and use copy-back.`;
};

/**
 * Plans to restore a table that is gone from a backup of it or of a copy, by default from the only one of the
 * table. If the table exists, as after an interruption, waits until it is active, and plans the settings that it
 * lacks. Throws while CloudFormation changes the stack, because it could make or delete the table.
 */
export const restore = async (
  opened: DeployedStage,
  kind: TableKind,
  backup?: string,
): Promise<Plan> => {
  const { dynamodb, stage, status } = opened;
  // A stack in review was never created, and nothing changes it.
  if (status.endsWith('_IN_PROGRESS') && status !== 'REVIEW_IN_PROGRESS')
    throw new Error(`The stack of ${stage.name} is being changed (${status}): wait until it ends`);
  const TargetTableName = opened.tableOf(kind);
  const table = await waitFor('1h', async () => {
    const found = await findTable(dynamodb, TargetTableName);
    if (found?.TableStatus !== 'DELETING') return found;
    throw new NotYet(`The table ${TargetTableName} is being deleted`);
  });
  if (table) {
    await waitForTable(dynamodb, TargetTableName);
    const { notices, steps } = await missingSettings(opened, kind);
    const unchanged =
      'The table exists: only its settings are compared. Its items stay as they are, and none is restored. If an earlier command began to restore it, that has ended.';
    const other = otherBackup(table, backup);
    return { notices: [unchanged, ...(other ? [other] : []), ...notices], steps };
  }
  const BackupArn = backup ?? (await onlyBackup(opened, kind));
  const { BackupDescription } = await dynamodb.send(new DescribeBackupCommand({ BackupArn }));
  const source = `${BackupDescription?.SourceTableDetails?.TableName}`;
  if (!isOfTable(source, TargetTableName))
    throw new Error(`The backup is one of ${source}, and not of ${TargetTableName}`);
  const time = BackupDescription?.BackupDetails?.BackupCreationDateTime?.toISOString();
  const restoration = new RestoreTableFromBackupCommand({ BackupArn, TargetTableName });
  const { systemBackup, restoreNotices } = operatedTables[kind];
  const isSystem = BackupDescription?.BackupDetails?.BackupType === 'SYSTEM';
  return {
    notices: [
      `Clients find the ${kind} of the backup as soon as the table is active, which can take hours.`,
      `The backup was made of ${source} at ${time}. What it does not have is lost.`,
      ...(isSystem ? [systemBackup] : []),
      ...restoreNotices(stage),
      'Recovery to earlier times ended with the table, and begins again.',
    ],
    steps: [
      {
        ...call(dynamodb, restoration),
        run: async () => {
          const send = () => dynamodb.send(restoration);
          const present = await startOnce(dynamodb, TargetTableName, send);
          const other = present && otherBackup(present, BackupArn);
          if (other) throw new Error(other);
        },
      },
      {
        description: `Wait until ${TargetTableName} is active, and set its tags, recovery, protection and limits`,
        run: async () => {
          await waitForTable(dynamodb, TargetTableName);
          const { notices, steps } = await missingSettings(opened, kind);
          for (const { description, run } of steps) {
            console.log(printable(description));
            await run();
          }
          for (const notice of notices) console.log(printable(notice));
        },
      },
    ],
  };
};

/**
 * Returns the ARN of a table's only backup. Throws if there is none, and, after it has printed them, if there
 * are several: the one that DynamoDB makes when a table is deleted has the damage of that table.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
 */
const onlyBackup = async (opened: DeployedStage, kind: TableKind): Promise<string> => {
  const table = opened.tableOf(kind);
  const backups = await backupsOf(opened.dynamodb, table);
  const [only] = backups;
  if (only?.BackupArn === undefined) throw new Error(withoutBackup(table, kind, opened.region));
  if (backups.length === 1) return only.BackupArn;
  const lines = backups.map(
    ({ BackupCreationDateTime: time, BackupType, BackupArn }) =>
      `${time?.toISOString()}  ${BackupType}  ${BackupArn}`,
  );
  for (const line of lines.toSorted()) console.log(line);
  throw new Error(
    `${table} has ${backups.length} backups: choose one with --backup <arn>. ${operatedTables[kind].systemBackup}`,
  );
};

const withoutBackup = (table: string, kind: TableKind, region: string): string =>
  [
    `DynamoDB lists no backup of ${table}.`,
    `It does not list those of AWS Backup: look there, restore the backup to a table with the name ${table}, and run this again for its settings.`,
    `If there is a copy, whose name starts with ${table}-, back it up (aws dynamodb create-backup --region ${region} --backup-name restore --table-name <copy>), and run this again with --backup <arn>.`,
    `Otherwise its ${kind} are lost: create an empty table ${table} with the keys and indexes that infra/settings/tables.ts declares, and run this again for its settings.`,
  ].join(' ');

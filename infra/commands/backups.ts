import {
  type BackupSummary,
  type DynamoDBClient,
  ListBackupsCommand,
} from '@aws-sdk/client-dynamodb';

/** Tells whether a name is that of a table, or of one that was restored from it. */
export const isOfTable = (name: string, table: string): boolean =>
  name === table || name.startsWith(`${table}-`);

/**
 * Returns every backup of DynamoDB in the account and region, or those of a table, which may be gone. Those of AWS
 * Backup are not among them:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
 */
export const backupsOf = async (dynamodb: DynamoDBClient, TableName?: string) => {
  const backups: BackupSummary[] = [];
  let ExclusiveStartBackupArn: string | undefined;
  do {
    const list = { TableName, BackupType: 'ALL', ExclusiveStartBackupArn } as const;
    const page = await dynamodb.send(new ListBackupsCommand(list));
    backups.push(...(page.BackupSummaries ?? []));
    ExclusiveStartBackupArn = page.LastEvaluatedBackupArn;
  } while (ExclusiveStartBackupArn !== undefined);
  return backups.filter(({ BackupStatus }) => BackupStatus !== 'DELETED');
};

import {
  DeleteTableCommand,
  UpdateTableCommand,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import type { TableKind } from '../../settings/tables.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';
import { reserve } from './reserve.ts';
import { findTable, waitForTable } from './table-settings.ts';

/** Plans to delete a table. Throws unless the service is closed. */
export const deleteTable = async (opened: OperatedStage, kind: TableKind): Promise<Step[]> => {
  const { dynamodb: client } = opened;
  const TableName = opened.tableOf(kind);
  const table = await findTable(client, TableName);
  if (!table) throw new Error(`There is no table ${TableName}`);
  if ((await reserve(opened, opened.apiFunctions(), 0)).length > 0)
    throw new Error('The service is open: close it first');
  const unprotected = { TableName, DeletionProtectionEnabled: false };
  const ready = () => waitForTable(client, TableName);
  const gone = () => waitUntilTableNotExists({ client, maxWaitTime: 3_600 }, { TableName });
  return [
    {
      ...call(client, new UpdateTableCommand(unprotected), ready),
      isDone: async () => !table.DeletionProtectionEnabled,
    },
    call(client, new DeleteTableCommand({ TableName }), gone),
  ];
};

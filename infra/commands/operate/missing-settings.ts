import { isDeepStrictEqual } from 'node:util';
import {
  ListTagsOfResourceCommand,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { maximumUnitsOf } from '../../settings/maximum-units.ts';
import { stageTags } from '../../settings/names.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import type { DeployedStage } from '../open-stage.ts';
import { call, type Plan, type Step } from '../plan.ts';
import { existingTable, recoveryOf } from './deployed-table.ts';

/**
 * Plans what a table lacks of what its stage declares, and AWS does not restore: tags, recovery, protection and
 * limits. A notice names each index that the table lacks, because the backup is older: the operator makes it.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
 */
export const missingSettings = async (opened: DeployedStage, kind: TableKind): Promise<Plan> => {
  const { dynamodb, stage } = opened;
  const { name: TableName, ...table } = await existingTable(opened, kind);
  const { TableArn: ResourceArn, GlobalSecondaryIndexes: indexes = [] } = table;
  const steps: Step[] = [];

  const list = new ListTagsOfResourceCommand({ ResourceArn });
  const { Tags: present = [] } = await dynamodb.send(list);
  const Tags = Object.entries(stageTags(stage)).map(([Key, Value]) => ({ Key, Value }));
  if (Tags.some((tag) => !present.some((other) => isDeepStrictEqual(other, tag))))
    steps.push(call(dynamodb, new TagResourceCommand({ ResourceArn, Tags })));

  const { PointInTimeRecoveryStatus: status, RecoveryPeriodInDays: presentDays } = await recoveryOf(
    dynamodb,
    TableName,
  );
  const days = stage.pointInTimeRecoveryDays;
  const recovery = {
    PointInTimeRecoveryEnabled: days > 0,
    ...(days > 0 && { RecoveryPeriodInDays: days }),
  };
  if ((status === 'ENABLED' ? presentDays : 0) !== days) {
    const change = { TableName, PointInTimeRecoverySpecification: recovery };
    steps.push(call(dynamodb, new UpdateContinuousBackupsCommand(change)));
  }

  const DeletionProtectionEnabled = stage.deletionProtection;
  if ((table.DeletionProtectionEnabled ?? false) !== DeletionProtectionEnabled)
    steps.push(call(dynamodb, new UpdateTableCommand({ TableName, DeletionProtectionEnabled })));

  const { read, write } = maximumUnitsOf(stage, tables[kind].id);
  const OnDemandThroughput = { MaxReadRequestUnits: read, MaxWriteRequestUnits: write };
  if (
    [table, ...indexes].some(
      (each) => !isDeepStrictEqual(each.OnDemandThroughput, OnDemandThroughput),
    )
  ) {
    const updates = indexes.map(({ IndexName }) => ({ Update: { IndexName, OnDemandThroughput } }));
    const GlobalSecondaryIndexUpdates = updates.length > 0 ? updates : undefined;
    const change = { TableName, OnDemandThroughput, GlobalSecondaryIndexUpdates };
    steps.push(call(dynamodb, new UpdateTableCommand(change)));
  }

  const lacking = tables[kind].indexes.filter(
    ({ name }) => !indexes.some(({ IndexName }) => IndexName === name),
  );
  const notices = lacking.map(
    ({ name }) =>
      `The table ${TableName} lacks the index ${name}: create it as infra/settings/tables.ts declares it, and run the command again.`,
  );
  return { notices, steps };
};

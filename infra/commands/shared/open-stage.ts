import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyAdministration } from '../../../lib/keys/key-administration.ts';
import type { Stage } from '../../settings/stages.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import { findStack } from './deployed-stack.ts';
import { openAccount } from './open-account.ts';

/**
 * Opens a deployed stage: its account, its stack, its tables and its API keys. Throws when there is no stack,
 * or when the credentials belong to another account, which could have a stack of the same name.
 */
export const openStage = async (stage: Stage) => {
  const opened = await openAccount(stage);
  const stack = await findStack(stage, opened);
  if (!stack) {
    const { account, region } = opened;
    throw new Error(`There is no stage ${stage.name} in account ${account}, region ${region}`);
  }
  const { cloudformation, dynamodb } = opened.clients;
  // `timeOfAws` must know AWS's time before the first call of DynamoDB, because that may write a key.
  dynamodb.config.systemClockOffset = cloudformation.config.systemClockOffset;
  const tableOf = (kind: TableKind) => stack.outputOf(`${tables[kind].id}Name`);
  return {
    stage,
    ...opened,
    ...stack,
    dynamodb,
    /** Returns the name of a table. Throws, as `keys` does, if the first deployment has failed. */
    tableOf,
    keys: () =>
      keyAdministration(DynamoDBDocumentClient.from(dynamodb), tableOf('keys'), stage.apiKeyPrefix),
  };
};

export type DeployedStage = Awaited<ReturnType<typeof openStage>>;

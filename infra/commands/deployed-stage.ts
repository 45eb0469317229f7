import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyAdministration } from '../../lib/keys/key-administration.ts';
import type { Stage } from '../settings/stages.ts';
import { type TableKind, tables } from '../settings/tables.ts';
import { openStack } from './deployed-stack.ts';

/**
 * Opens a deployed stage: its stack, its tables and its API keys. Throws when there is no stack, or when the
 * credentials belong to another account.
 */
export const openStage = async (stage: Stage) => {
  const stack = await openStack(stage);
  const dynamodb = stack.clients.dynamodb();
  const tableOf = (kind: TableKind) => stack.outputOf(`${tables[kind].id}Name`);
  return {
    stage,
    ...stack,
    dynamodb,
    /** Returns the name of a table. Throws, as `keys` does, if the first deployment has failed. */
    tableOf,
    keys: () =>
      keyAdministration(DynamoDBDocumentClient.from(dynamodb), tableOf('keys'), stage.apiKeyPrefix),
  };
};

export type DeployedStage = Awaited<ReturnType<typeof openStage>>;

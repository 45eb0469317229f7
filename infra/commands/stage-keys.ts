import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyAdministration } from '../../lib/keys/key-administration.ts';
import { localClientConfig, localStage } from '../local/local-account.ts';
import type { Stage } from '../settings/stages.ts';
import { openStack } from './deployed-stack.ts';

const keysIn = (client: DynamoDBClient, tableName: string, { apiKeyPrefix }: Stage) =>
  keyAdministration(DynamoDBDocumentClient.from(client), tableName, apiKeyPrefix);

/**
 * Opens the keys of the local service, whose DynamoDB is at the endpoint. Throws if nothing at the endpoint
 * speaks DynamoDB, or if there is no table of keys.
 */
export const openLocalKeys = async (endpoint: string) => {
  const client = new DynamoDBClient(localClientConfig(endpoint));
  const pages = await Array.fromAsync(paginateListTables({ client }, {})).catch((cause) => {
    const message = `${endpoint} is not DynamoDB: give the address that npm start prints`;
    throw new Error(message, { cause });
  });
  const tableName = pages
    .flatMap(({ TableNames = [] }) => TableNames)
    .find((name) => name.startsWith('KeysTable'));
  if (tableName === undefined) throw new Error(`There is no keys table at ${endpoint}`);
  return keysIn(client, tableName, localStage);
};

/**
 * Opens the keys of a deployed stage, with its address, account and region. Throws when the credentials belong
 * to another account.
 */
export const openStage = async (stage: Stage) => {
  const { config, account, region, baseAddress, outputOf } = await openStack(stage);
  return {
    keys: keysIn(new DynamoDBClient(config), outputOf('KeysTableName'), stage),
    account,
    region,
    baseAddress: baseAddress ?? outputOf('BaseAddress'),
  };
};

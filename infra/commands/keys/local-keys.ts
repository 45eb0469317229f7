import { paginateListTables } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyAdministration } from '../../../lib/keys/key-administration.ts';
import { localAccount, localClientConfig, localRegion } from '../../local/local-account.ts';
import { localStage } from '../../local/local-stage.ts';
import { awsClients } from '../shared/aws-clients.ts';
import { callSettings } from '../shared/aws-config.ts';

/**
 * Opens the keys of the local service, whose DynamoDB is at the endpoint. Throws if nothing at the endpoint
 * speaks DynamoDB, or if there is no table of keys.
 */
export const openLocalKeys = async (endpoint: string) => {
  const clients = awsClients({ ...localClientConfig(endpoint), ...callSettings });
  const client = clients.dynamodb;
  const pages = await Array.fromAsync(paginateListTables({ client }, {})).catch((cause) => {
    const message = `${endpoint} is not DynamoDB: give the address that npm start prints`;
    throw new Error(message, { cause });
  });
  const tableName = pages
    .flatMap(({ TableNames = [] }) => TableNames)
    .find((name) => name.startsWith('KeysTable'));
  if (tableName === undefined) throw new Error(`There is no keys table at ${endpoint}`);
  const { apiKeyPrefix } = localStage;
  return {
    stage: localStage,
    account: localAccount,
    region: localRegion,
    clients,
    keys: () => keyAdministration(DynamoDBDocumentClient.from(client), tableName, apiKeyPrefix),
  };
};

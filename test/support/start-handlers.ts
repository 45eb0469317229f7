import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { localCredentials, localRegion } from '../../infra/local/local-account.ts';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import type { ApiKeyRecord } from '../../lib/keys/api-key-record.ts';
import { FaultProxy } from './fault-proxy.ts';
import { senderTo } from './invoke.ts';
import { type Load, loadHandlers } from './load-handlers.ts';
import { discardLog } from './log-lines.ts';

/** Fields of a stored API key, of the wrong type where a test is about that. */
type RecordParts = Partial<Record<keyof ApiKeyRecord, unknown>>;

/**
 * Loads the handlers into this process, with tables of their own behind a fault proxy.
 * Call it once in a test file: the modules read their environment when they are loaded.
 */
export const startHandlers = async (load?: Load) => {
  const local = inject('dynamodb');
  if (!local) throw new Error('These tests need DynamoDB Local: unset BASE_URL');
  const proxy = new FaultProxy(local.dynamodbEndpoint);
  const proxyEndpoint = await proxy.listen();
  const suffix = randomBytes(8).toString('hex');
  const tables = { pets: `Pets-${suffix}`, keys: `Keys-${suffix}` };
  Object.assign(process.env, {
    AWS_REGION: localRegion,
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: proxyEndpoint,
    PETS_TABLE: tables.pets,
    KEYS_TABLE: tables.keys,
    API_KEY_PREFIX: 'pets_test',
    SERVICE_NAME: 'animal-store-test',
    AWS_LAMBDA_FUNCTION_VERSION: '42',
  });
  discardLog();
  const client = new DynamoDBClient({ endpoint: local.dynamodbEndpoint });
  const definitions = Object.entries(local.tables).map(([variable, table]) => {
    return { ...table, TableName: `${process.env[variable]}` };
  });
  await createTables(client, definitions);
  const dynamodb = DynamoDBDocument.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });

  /** Puts an item into the pets table. */
  const putPet = (Item: Record<string, unknown>) => dynamodb.put({ TableName: tables.pets, Item });

  /** Puts a key into the keys table; `record` replaces the fields that the test is about. */
  const storeApiKey = async (apiKey: string, record: RecordParts = {}) => {
    const Item = {
      ...identifyApiKey(apiKey, 'pets_test'),
      owner: 'test',
      lastFour: apiKey.slice(-4),
      createdAt: '2026-01-01T00:00:00Z',
      ...record,
    };
    await dynamodb.put({ TableName: tables.keys, Item });
    return apiKey;
  };
  const issueApiKey = (record?: RecordParts) => storeApiKey(generateApiKey('pets_test'), record);

  /** Every item of the pets table. */
  const storedPets = async () => {
    const { Items = [] } = await dynamodb.scan({ TableName: tables.pets, ConsistentRead: true });
    return Items;
  };

  const handlers = await loadHandlers(load);
  const apiKey = await issueApiKey();
  return {
    dynamodb,
    proxy,
    proxyEndpoint,
    tables,
    storeApiKey,
    issueApiKey,
    apiKey,
    ...handlers,
    send: senderTo(handlers, apiKey),
    putPet,
    storedPets,
    deletePets: async () => {
      for (const { id } of await storedPets()) {
        await dynamodb.delete({ TableName: tables.pets, Key: { id } });
      }
    },
  };
};

import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import type { LocalService } from '../../infra/local/local-service.ts';
import { tables as settings, type TableSettings } from '../../infra/settings/tables.ts';
import { type ApiKeyRecord, generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { shared } from './shared.ts';

/** Fields of a stored API key, of the wrong type where a test is about that. */
type RecordParts = Partial<Record<keyof ApiKeyRecord, unknown>>;

/** Items by the ids of their tables, such as `PetsTable`. */
export type Items = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Puts items into the tables whose names are the values of these environment variables. */
const putInto = (
  dynamodb: DynamoDBDocument,
  variables: Readonly<Record<string, string>>,
  items: Items,
) =>
  Promise.all(
    Object.values<TableSettings>(settings).flatMap(({ id, variable }) =>
      (items[id] ?? []).map((Item) => dynamodb.put({ TableName: variables[variable], Item })),
    ),
  );

/** Puts items into the tables of the service that all tests of a run share. */
export const putIntoShared = async (items: Items) => {
  const { dynamodbEndpoint, tables } = shared('dynamodb');
  const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
  const variables = Object.fromEntries(
    Object.entries(tables).map(([variable, { TableName }]) => [variable, `${TableName}`]),
  );
  await putInto(DynamoDBDocument.from(client), variables, items);
};

/** Creates tables with names of their own, and returns what reads and writes them. */
export const createTestTables = async ({
  dynamodbEndpoint,
  tables: definitions,
}: Pick<LocalService, 'dynamodbEndpoint' | 'tables'>) => {
  const suffix = randomBytes(8).toString('hex');
  const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
  const renamed = Object.entries(definitions).map(([variable, definition]) => {
    // Of a logical id such as PetsTable56B0D675.
    const [name = ''] = definition.TableName.split('Table');
    return [variable, { ...definition, TableName: `${name}-${suffix}` }] as const;
  });
  await createTables(
    client,
    renamed.map(([, definition]) => definition),
  );
  /** The name of each table, by the environment variable that gives it to functions. */
  const variables: Readonly<Record<string, string>> = Object.fromEntries(
    renamed.map(([variable, { TableName }]) => [variable, TableName]),
  );
  const nameOf = ({ variable }: TableSettings) => `${variables[variable]}`;
  const tables = { pets: nameOf(settings.pets), keys: nameOf(settings.keys) };
  const dynamodb = DynamoDBDocument.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });

  /** Puts an item into the pets table. */
  const putPet = (Item: Record<string, unknown>) => dynamodb.put({ TableName: tables.pets, Item });

  /** Puts the items of an example into their tables. */
  const putItems = (items: Items) => putInto(dynamodb, variables, items);

  /** Every item of the pets table. */
  const storedPets = async () => {
    const { Items = [] } = await dynamodb.scan({ TableName: tables.pets, ConsistentRead: true });
    return Items;
  };

  const deletePets = async () => {
    const pets = await storedPets();
    await Promise.all(
      pets.map(({ id }) => dynamodb.delete({ TableName: tables.pets, Key: { id } })),
    );
  };

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

  return {
    ...{ dynamodb, tables, variables, putItems, putPet, storedPets, deletePets },
    ...{ storeApiKey, issueApiKey },
  };
};

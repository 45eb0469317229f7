import {
  CreateTableCommand,
  DescribeTableCommand,
  type DescribeTableCommandOutput,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { resourcesOf, type Template } from '../../template/template.ts';

const KeySchema = z.array(
  z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }),
);
const Projection = z.object({
  ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
  NonKeyAttributes: z.optional(z.array(z.string())),
});
const Index = z.object({ IndexName: z.string(), KeySchema, Projection });

const Table = z.object({
  TableName: z.optional(z.string()),
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
  ),
  KeySchema,
  BillingMode: z.literal('PAY_PER_REQUEST'),
  GlobalSecondaryIndexes: z.optional(z.array(Index)),
});

/** A table of the template under the name that it has locally. */
export type TableDefinition = z.output<typeof Table> & { readonly TableName: string };

/** The tables of a template by logical id, which is a table's name unless the template gives another. */
export const tablesOf = (template: Template): Map<string, TableDefinition> =>
  new Map(
    [...resourcesOf(template, 'AWS::DynamoDB::Table', Table)].map(([id, table]) => [
      id,
      { ...table, TableName: table.TableName ?? id },
    ]),
  );

/** Creates the tables that don't exist yet. Throws when one exists with other keys or indexes. */
export const createTables = async (
  client: DynamoDBClient,
  tables: Iterable<TableDefinition>,
): Promise<void> => {
  await Promise.all([...tables].map((table) => createTable(client, table)));
};

const createTable = async (client: DynamoDBClient, table: TableDefinition): Promise<void> => {
  const { TableName } = table;
  try {
    await client.send(new CreateTableCommand(table));
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName });
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    const { Table: existing } = await client.send(new DescribeTableCommand({ TableName }));
    if (shapeOf(existing) !== shapeOf(table)) {
      throw new Error(
        `Table ${TableName} exists with other keys or indexes than the stack declares. Start again with an empty data directory.`,
      );
    }
  }
};

type Shape = Pick<
  NonNullable<DescribeTableCommandOutput['Table']>,
  'KeySchema' | 'GlobalSecondaryIndexes'
>;

const shapeOf = ({ KeySchema: keys, GlobalSecondaryIndexes: indexes }: Shape = {}): string =>
  JSON.stringify([keysOf(keys), indexesOf(indexes)]);

const keysOf = (keys: Shape['KeySchema'] = []) =>
  keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`);

const indexesOf = (indexes: Shape['GlobalSecondaryIndexes'] = []) =>
  indexes
    .map(({ IndexName, KeySchema: keys, Projection: projection }) => [
      IndexName,
      keysOf(keys),
      projection?.ProjectionType,
      [...(projection?.NonKeyAttributes ?? [])].sort(),
    ])
    .sort();

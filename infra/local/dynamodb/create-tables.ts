import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  ResourceInUseException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { resourcesOf, type Template } from '../../build/template.ts';

const KeySchema = v.array(
  v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }),
);
const Projection = v.object({
  ProjectionType: v.picklist(['ALL', 'INCLUDE', 'KEYS_ONLY']),
  NonKeyAttributes: v.optional(v.array(v.string())),
});
const Table = v.object({
  KeySchema,
  GlobalSecondaryIndexes: v.optional(
    v.array(v.object({ IndexName: v.string(), KeySchema, Projection })),
  ),
  AttributeDefinitions: v.array(
    v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }),
  ),
  BillingMode: v.literal('PAY_PER_REQUEST'),
});

/** A table of the template. The local table has the logical id as its name. */
export type TableDefinition = v.InferOutput<typeof Table> & { readonly TableName: string };

export const tablesOf = (template: Template): TableDefinition[] =>
  [...resourcesOf(template, 'AWS::DynamoDB::Table', Table)].map(([TableName, table]) => ({
    ...table,
    TableName,
  }));

/**
 * Creates the tables that don't exist yet. Throws an error with a one-line message when DynamoDB Local can't
 * read its data, or when it has a table with other keys or indexes.
 */
export const createTables = async (
  client: DynamoDBClient,
  tables: readonly TableDefinition[],
): Promise<void> => {
  const create = async (table: TableDefinition) => {
    try {
      await client.send(new CreateTableCommand(table));
    } catch (error) {
      if (error instanceof ResourceInUseException) return requireSameKeys(client, table);
      // DynamoDB Local reports only an unknown error in this case.
      if (!(error instanceof DynamoDBServiceException && error.$fault === 'server')) throw error;
      throw new Error(
        "DynamoDB Local can't use its data, which may be damaged. Choose another data directory, or empty this one with --reset.",
        { cause: error },
      );
    }
  };
  await Promise.all(tables.map(create));
};

const requireSameKeys = async (client: DynamoDBClient, expected: TableDefinition) => {
  const { TableName } = expected;
  const { Table: stored } = await client.send(new DescribeTableCommand({ TableName }));
  if (isDeepStrictEqual(keysOf(stored), keysOf(expected))) return;
  throw new Error(
    'The data is from another version of the service, which had other tables. Choose another data directory, or empty this one with --reset.',
  );
};

/** Returns the keys of a table and of its indexes, by name: DynamoDB Local lists indexes in any order. */
const keysOf = (table: TableDescription | TableDefinition | undefined) => ({
  key: table?.KeySchema,
  indexes: new Map(
    table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => [
      IndexName,
      { KeySchema, Projection },
    ]),
  ),
});

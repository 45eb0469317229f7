import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  ResourceInUseException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { resourcesOf, type Template } from '../../build/template.ts';

const KeySchema = z.array(
  z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }),
);
const Projection = z.object({
  ProjectionType: z.enum(['ALL', 'INCLUDE', 'KEYS_ONLY']),
  NonKeyAttributes: z.optional(z.array(z.string())),
});
const Table = z.object({
  KeySchema,
  GlobalSecondaryIndexes: z.optional(
    z.array(z.object({ IndexName: z.string(), KeySchema, Projection })),
  ),
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
  ),
  BillingMode: z.literal('PAY_PER_REQUEST'),
});

/** A table of the template; locally its logical id is its name. */
export type TableDefinition = z.output<typeof Table> & { readonly TableName: string };

export const tablesOf = (template: Template): TableDefinition[] =>
  [...resourcesOf(template, 'AWS::DynamoDB::Table', Table)].map(([TableName, table]) => ({
    ...table,
    TableName,
  }));

/**
 * Creates the tables that don't exist yet. Throws an error of one line when DynamoDB Local can't read its data, or has a
 * table with other keys or indexes.
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
      // DynamoDB Local says only that the error is unknown.
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

const keysOf = (table: TableDescription | TableDefinition | undefined) => ({
  key: table?.KeySchema,
  indexes: table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
    IndexName,
    KeySchema,
    Projection,
  })),
});

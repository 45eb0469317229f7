import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
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

/** Creates the tables that don't exist yet. Throws when there is one with other indexes, or with damaged data. */
export const createTables = async (
  client: DynamoDBClient,
  tables: readonly TableDefinition[],
): Promise<void> => {
  const create = async (table: TableDefinition) => {
    try {
      await client.send(new CreateTableCommand(table));
    } catch (error) {
      if (error instanceof ResourceInUseException && (await hasSameIndexes(client, table))) return;
      throw new Error(
        `DynamoDB Local can't create the table ${table.TableName}, because its data is damaged or has other indexes. Start again with another data directory or with --reset.`,
        { cause: error },
      );
    }
  };
  await Promise.all(tables.map(create));
};

const hasSameIndexes = async (client: DynamoDBClient, table: TableDefinition) => {
  const { TableName } = table;
  const { Table: stored } = await client.send(new DescribeTableCommand({ TableName }));
  return `${indexNames(stored)}` === `${indexNames(table)}`;
};

/** Returns the names of a table's indexes in a fixed order: DynamoDB Local lists them in any order. */
const indexNames = (table: TableDescription | TableDefinition | undefined) =>
  table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).sort();

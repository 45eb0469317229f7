import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import type { TableDefinition } from '../stack-definition.ts';

/** Creates the tables that don't exist yet. Throws when there is one with other indexes. */
export const createTables = async (
  client: DynamoDBClient,
  tables: readonly TableDefinition[],
): Promise<void> => {
  const create = async (table: TableDefinition) => {
    try {
      await client.send(new CreateTableCommand(table));
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
      if (await hasSameIndexes(client, table)) return;
      throw new Error(
        `DynamoDB Local has a table ${table.TableName} with other indexes. Choose another directory with --data.`,
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

import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  ResourceInUseException,
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

/** What two tables of one name must have in common. */
const Shape = z.object({ KeySchema, GlobalSecondaryIndexes: z.optional(z.array(Index)) });

const Table = z.extend(Shape, {
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

/** Creates the tables that don't exist yet. Throws when one exists with other keys or indexes, or can't be read. */
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
  } catch (error) {
    // DynamoDB Local says only that the error is unknown.
    if (error instanceof DynamoDBServiceException && error.$fault === 'server') {
      throw new Error(
        "DynamoDB Local can't use its data, which may be damaged. Choose another data directory, or empty this one with --reset.",
        { cause: error },
      );
    }
    if (!(error instanceof ResourceInUseException)) throw error;
    const { Table: existing } = await client.send(new DescribeTableCommand({ TableName }));
    if (!isDeepStrictEqual(Shape.parse(existing), Shape.parse(table))) {
      throw new Error(
        `Table ${TableName} exists with other keys or indexes than the stack declares. Choose another data directory, or empty this one with --reset.`,
      );
    }
  }
};

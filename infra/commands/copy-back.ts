import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { Argument, Command } from 'commander';
import type { Stage } from '../settings/stages.ts';
import { type TableKind, tables } from '../settings/tables.ts';
import { findTable } from './shared/find-table.ts';
import { type DeployedStage, openStage } from './shared/open-stage.ts';
import { perform } from './shared/plan.ts';
import { runProgram } from './shared/run-program.ts';
import { withStage } from './shared/stage-option.ts';
import { type Ask, askInTerminal } from './shared/terminal.ts';

interface CopyBackOptions {
  readonly stage: Stage;
  readonly yes?: true;
}

/** Items as DynamoDB sends them, with each number as text, by the value of their key. */
type Items = Map<string, Record<string, AttributeValue>>;

const itemsOf = async (client: DynamoDBClient, TableName: string, key: string): Promise<Items> => {
  const items: Items = new Map();
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true }))
    for (const item of page.Items ?? []) {
      items.set(JSON.stringify(item[key]), item);
      if (items.size % 10_000 === 0) console.error(`Read ${items.size} items of ${TableName}`);
    }
  return items;
};

/** Returns the key of a table, such as `id (N)`. */
const keyOf = ({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): string =>
  KeySchema.map(({ AttributeName: name }) => {
    const attribute = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return `${name} (${attribute?.AttributeType})`;
  }).join(', ');

/** Returns a table that can be read. Throws if there is none of this name. */
const readableTable = async ({ dynamodb, account, region }: DeployedStage, name: string) => {
  const table = await findTable(dynamodb, name);
  if (!table) throw new Error(`There is no table ${name} in account ${account}, region ${region}`);
  if (table.TableStatus === 'CREATING')
    throw new Error(`The table ${name} is still being created: run this command again later`);
  return table;
};

const few = (keys: readonly string[]) =>
  `${keys.length}${keys.length === 0 ? '' : `, such as ${keys.slice(0, 5).join(' ')}`}`;

/**
 * Compares a table with its copy, and writes the items of the copy that the table lacks, or has with other
 * values, one after the other, so that clients keep most of the table's throughput. An API key that the table
 * has stays, because the copy could make a revoked key valid. Throws before it reads an item if the copy is
 * no other table with the same key.
 */
const copyBack = async (
  kind: TableKind,
  copy: string,
  { stage, yes }: CopyBackOptions,
  ask: Ask | undefined,
) => {
  const opened = await openStage(stage);
  const { dynamodb, tableOf } = opened;
  const TableName = tableOf(kind);
  const table = await readableTable(opened, TableName);
  const other = await readableTable(opened, copy);
  if (other.TableArn === table.TableArn)
    throw new Error(`${copy} is the table itself: name a copy of it`);
  if (keyOf(other) !== keyOf(table))
    throw new Error(`The key of ${copy} is ${keyOf(other)}, but a copy would have ${keyOf(table)}`);
  const { SourceTableArn: source, RestoreDateTime: time } = other.RestoreSummary ?? {};
  const key = tables[kind].partitionKey.name;
  const [stored, copied] = [
    await itemsOf(dynamodb, TableName, key),
    await itemsOf(dynamodb, copy, key),
  ];
  const missing = [...copied.keys()].filter((id) => !stored.has(id));
  const different = [...copied.keys()].filter(
    (id) => stored.has(id) && !isDeepStrictEqual(stored.get(id), copied.get(id)),
  );
  const written = kind === 'keys' ? missing : [...missing, ...different];
  const run = async () => {
    for (const [at, id] of written.entries()) {
      await dynamodb
        .send(
          new PutItemCommand({
            TableName,
            Item: copied.get(id),
            // A client may have added or removed it meanwhile.
            ConditionExpression: stored.has(id)
              ? 'attribute_exists(#key)'
              : 'attribute_not_exists(#key)',
            ExpressionAttributeNames: { '#key': key },
          }),
        )
        .catch((error: unknown) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
      if ((at + 1) % 1_000 === 0) console.error(`${at + 1} of ${written.length} ${kind} are done`);
    }
  };
  const description = `Write ${written.length} ${kind} of ${copy} into ${TableName}`;
  const notices = [
    ...(source ? [`The copy was made from ${source} as of ${time?.toISOString()}`] : []),
    `Missing in the table: ${few(missing)}`,
    `Different in the table${kind === 'keys' ? ', and stay so' : ''}: ${few(different)}`,
  ];
  const plan = { notices, ...(written.length > 0 && { work: { description, run } }) };
  await perform(opened, plan, { yes, ask });
};

/** The program of `npm run copy-back`. `ask` is absent when there is no terminal. */
export const copyBackProgram = (ask: Ask | undefined): Command =>
  withStage(new Command('npm run copy-back --'), 'the stage to change')
    .description('Writes what a table lacks, or has with other values, from its copy.')
    .addArgument(new Argument('<table>', 'its table').choices(Object.keys(tables)))
    .argument('<copy>', 'the name of the copy')
    .option('--yes', 'do not ask first')
    .action((kind: TableKind, copy: string, options: CopyBackOptions) =>
      copyBack(kind, copy, options, ask),
    );

if (import.meta.main) await runProgram(copyBackProgram(askInTerminal));

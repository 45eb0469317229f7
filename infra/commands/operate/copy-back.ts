import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { maximumUnitsOf } from '../../settings/maximum-units.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import { findTable } from '../find-table.ts';
import type { DeployedStage } from '../open-stage.ts';
import type { Plan } from '../plan.ts';
import { stageWords } from '../stage-option.ts';
import { printable } from '../terminal.ts';
import { NotYet, waitFor } from '../wait-for.ts';
import { existingTable, waitForTable } from './deployed-table.ts';
import {
  fieldNamesOf,
  type ItemAttributes,
  isReadable,
  shown,
  shownValue,
} from './item-attributes.ts';
import { operatedTables } from './operated-tables.ts';

/** The segments of the copy that are read and written in parallel, each with one request at a time. */
const segments = 8;

/** The most keys that DynamoDB reads at once. */
const pageSize = 100;

/** The share of the units of a table that this uses, so that clients have the rest. */
const shareOfUnits = 0.5;

const progressMs = 10_000;

/** A table, its copy, the name of their key, and functions that wait until units are within the share. */
interface Comparison {
  readonly dynamodb: DeployedStage['dynamodb'];
  readonly kind: TableKind;
  readonly keyName: string;
  readonly table: string;
  readonly copy: string;
  readonly spendReads: (units: number) => Promise<unknown>;
  readonly spendWrites: (units: number) => Promise<unknown>;
}

/** An item of the copy, and what the table has under its key. */
interface Pair {
  readonly item: ItemAttributes;
  readonly present: ItemAttributes | undefined;
}

/**
 * Compares a table with its copy and prints the differences, and plans to write the items of the copy that
 * the table lacks, or has with other values. Everything else in the table stays. An API key that the table
 * has stays too, because the copy could make a revoked key valid. Run again after an interruption, it writes
 * what is left.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-pitr-recovery-inplace-rollback.html
 */
export const copyBack = async (
  opened: DeployedStage,
  kind: TableKind,
  copy: string,
): Promise<Plan> => {
  const { dynamodb, stage } = opened;
  const { name: table } = await existingTable(opened, kind);
  if (!copy.startsWith(`${table}-`))
    throw new Error(`${copy} is no copy of ${table}: its name does not start with ${table}-`);
  const copied = await findTable(dynamodb, copy);
  if (!copied || copied.TableStatus === 'DELETING')
    throw new Error(
      `The table ${copy} is ${copied ? 'being deleted' : 'gone'}: make a copy with npm run operate -- restore-copy ${kind} <time> ${stageWords(stage)}`,
    );
  await waitForTable(dynamodb, table);
  await waitForTable(dynamodb, copy);

  const { read, write } = maximumUnitsOf(stage, tables[kind].id);
  const writeUnits = write * shareOfUnits;
  const spendReads = atRate(read * shareOfUnits);
  const spendWrites = atRate(writeUnits);
  const keyName = tables[kind].partitionKey.name;
  const comparison = { dynamodb, kind, keyName, table, copy, spendReads, spendWrites };
  console.log(
    `Comparing ${copy} with ${table}. The copy has about ${copied.ItemCount} ${kind}: DynamoDB counts them every 6 hours.`,
  );
  const changes = await compare(comparison);
  const description = `Write ${changes} ${kind} of ${copy} into ${table}, with at most ${writeUnits} write units a second`;
  if (changes === 0) return { notices: [], steps: [] };
  return {
    notices: [operatedTables[kind].copyBackNotice],
    steps: [{ description, run: () => writeChanges(comparison, changes) }],
  };
};

/** Returns a function that waits until all units that it was called with are within a rate. */
const atRate = (unitsPerSecond: number) => {
  let end = 0;
  return (units: number) => {
    const now = Date.now();
    end = Math.max(end, now) + (units / unitsPerSecond) * 1_000;
    return pause(end - now);
  };
};

/** Returns a function that prints a line of progress, unless it has just done so. */
const progress = () => {
  let next = Date.now() + progressMs;
  return (line: string) => {
    if (Date.now() < next) return;
    console.log(line);
    next = Date.now() + progressMs;
  };
};

type Finding = 'missing' | 'different' | 'same' | 'unreadable';

const findingOf = (kind: TableKind, { item, present }: Pair): Finding => {
  if (!isReadable(kind, item)) return 'unreadable';
  if (present === undefined) return 'missing';
  return isDeepStrictEqual(item, present) ? 'same' : 'different';
};

const isWritten = (kind: TableKind, finding: Finding): boolean =>
  finding === 'missing' || (finding === 'different' && operatedTables[kind].isReplaced);

/** Prints how a table differs from its copy, with examples. Returns how many items are to be written. */
const compare = async (comparison: Comparison): Promise<number> => {
  const { kind } = comparison;
  const report = progress();
  const counts = { missing: 0, different: 0, same: 0, unreadable: 0 };
  const examples = { missing: '', different: '', same: '', unreadable: '' };
  let compared = 0;
  let written = 0;
  await forEachPair(comparison, async (pair) => {
    const finding = findingOf(kind, pair);
    counts[finding] += 1;
    if (finding !== 'same' && counts[finding] <= 3)
      examples[finding] += `\n  ${printable(exampleOf(kind, pair))}`;
    if (isWritten(kind, finding)) written += 1;
    compared += 1;
    report(`Compared ${compared} ${kind}`);
  });
  const stay = operatedTables[kind].isReplaced ? '' : ', and stay so';
  console.log(`Missing in the table: ${counts.missing}${examples.missing}`);
  console.log(`Different in the table${stay}: ${counts.different}${examples.different}`);
  console.log(`The same in the table: ${counts.same}`);
  console.log(
    `Left out, because the service could not read them: ${counts.unreadable}${examples.unreadable}`,
  );
  return written;
};

/** Shows an item of the copy, or its fields that differ from those in the table. */
const exampleOf = (kind: TableKind, { item, present }: Pair): string => {
  const [keyName = '', ...names] = fieldNamesOf(kind, item, present ?? {});
  const changed = names.filter((name) => !isDeepStrictEqual(item[name], present?.[name]));
  if (present === undefined || changed.length === 0) return shown(kind, item);
  const changes = changed.map(
    (name) => `${name} ${shownValue(present[name])}, in the copy ${shownValue(item[name])}`,
  );
  return `${keyName} ${shownValue(item[keyName])}: ${changes.join('; ')}`;
};

/** Writes the items of a copy that a table lacks or has with other values, and prints the progress. */
const writeChanges = async (comparison: Comparison, changes: number) => {
  const { dynamodb, kind, keyName, table, spendWrites } = comparison;
  const report = progress();
  let written = 0;
  let left = 0;
  await forEachPair(comparison, async (pair) => {
    if (!isWritten(kind, findingOf(kind, pair))) return;
    const put = new PutItemCommand({
      TableName: table,
      Item: pair.item,
      // A client may have added it meanwhile.
      ...(pair.present === undefined && {
        ConditionExpression: 'attribute_not_exists(#key)',
        ExpressionAttributeNames: { '#key': keyName },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      }),
      ReturnConsumedCapacity: 'TOTAL',
    });
    try {
      const { ConsumedCapacity } = await dynamodb.send(put);
      written += 1;
      await spendWrites(ConsumedCapacity?.CapacityUnits ?? 0);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // An attempt whose response was lost has written the same item.
      if (isDeepStrictEqual(error.Item, pair.item)) written += 1;
      else left += 1;
    }
    report(`Wrote ${written} of ${changes} ${kind}`);
  });
  console.log(`Wrote ${written} ${kind}`);
  if (left > 0) console.log(`Left ${left} ${kind} that the table had by then as they are`);
};

/** Visits each item of a copy with what the table has, in parallel. Stops all segments when one fails. */
const forEachPair = async (
  comparison: Comparison,
  visit: (pair: Pair) => Promise<void>,
): Promise<void> => {
  const { dynamodb: client, keyName, copy } = comparison;
  const idOf = (item: ItemAttributes) => shownValue(item[keyName]);
  let hasFailed = false;
  const visitSegment = async (Segment: number) => {
    const scan = { TableName: copy, Segment, TotalSegments: segments, ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client, pageSize }, scan)) {
      const stored = await itemsOf(comparison, Items);
      const present = new Map(stored.map((item) => [idOf(item), item]));
      for (const item of Items) {
        if (hasFailed) return;
        await visit({ item, present: present.get(idOf(item)) });
      }
    }
  };
  const visits = Array.from({ length: segments }, (_none, segment) =>
    visitSegment(segment).catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  // When this throws, no segment is still writing.
  await Promise.allSettled(visits);
  await Promise.all(visits);
};

/**
 * Returns the items of the table that have the keys of these items, at most `pageSize`. Throws if DynamoDB reads
 * none of them for a minute.
 */
const itemsOf = async (
  { dynamodb, keyName, table, spendReads }: Comparison,
  items: readonly ItemAttributes[],
): Promise<ItemAttributes[]> => {
  const found: ItemAttributes[] = [];
  let keys = items.flatMap(({ [keyName]: value }) => (value ? [{ [keyName]: value }] : []));
  while (keys.length > 0) {
    const batch = new BatchGetItemCommand({
      RequestItems: { [table]: { Keys: keys, ConsistentRead: true } },
      ReturnConsumedCapacity: 'TOTAL',
    });
    const { length } = keys;
    const output = await waitFor('1m', async () => {
      const read = await dynamodb.send(batch);
      // A throttled read costs no units, which would slow this down.
      if (read.UnprocessedKeys?.[table]?.Keys?.length === length)
        throw new NotYet(`DynamoDB throttles all reads of ${table}`);
      return read;
    });
    found.push(...(output.Responses?.[table] ?? []));
    await spendReads(output.ConsumedCapacity?.[0]?.CapacityUnits ?? 0);
    keys = output.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
};

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumber } from '../../../lib/contract/exact-json.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import { operatedTables } from './operated-tables.ts';

/** An item as DynamoDB sends it, with each number as text, so that none loses digits. */
export type ItemAttributes = Record<string, AttributeValue>;

/** Tells whether the service can read an item for clients. Another one is corrupt. */
export const isReadable = (kind: TableKind, item: ItemAttributes): boolean => {
  try {
    operatedTables[kind].read(unmarshall(item, { wrapNumbers: exactNumber }));
    return true;
  } catch {
    return false;
  }
};

/** Returns the names of the fields of items, that of the key first and the others sorted. */
export const fieldNamesOf = (kind: TableKind, ...items: readonly ItemAttributes[]): string[] => {
  const keyName = tables[kind].partitionKey.name;
  const names = new Set(items.flatMap((item) => Object.keys(item)));
  return [keyName, ...[...names].filter((name) => name !== keyName).sort()];
};

/** Returns the fields of an item as text. Binary values, such as the hash of a key, are only named. */
export const shown = (kind: TableKind, item: ItemAttributes): string =>
  fieldNamesOf(kind, item)
    .map((name) => `${name} ${shownValue(item[name])}`)
    .join(', ');

/** Returns the value of a field as text. */
export const shownValue = (value: AttributeValue | undefined): string => {
  if (value === undefined) return 'absent';
  const { S, N, B } = value;
  if (S !== undefined) return JSON.stringify(S);
  return N ?? (B === undefined ? 'of another type' : `of ${B.length} bytes`);
};

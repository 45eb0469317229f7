import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumber } from '../../../lib/contract/exact-json.ts';
import { toApiKeyRecord } from '../../../lib/keys/api-key.ts';
import { toStoredPet } from '../../../lib/pets/stored-pet.ts';
import type { TableKind } from '../../settings/tables.ts';

/** An item as DynamoDB sends it, with each number as text, so that none loses digits. */
export type StoredItem = Record<string, AttributeValue>;

/** The function of the service that reads an item of each table, and throws for one that it can't read. */
const readers: Readonly<Record<TableKind, (item: Record<string, unknown>) => unknown>> = {
  pets: toStoredPet,
  keys: toApiKeyRecord,
};

/** Tells whether the service can read an item. */
export const isReadable = (kind: TableKind, item: StoredItem): boolean => {
  try {
    readers[kind](unmarshall(item, { wrapNumbers: exactNumber }));
    return true;
  } catch {
    return false;
  }
};

/** Returns the fields of an item as text. Binary values, such as the hash of a key, are only named. */
export const shown = (item: StoredItem): string =>
  Object.keys(item)
    .map((name) => `${name} ${shownValue(item[name])}`)
    .join(', ');

/** Returns the value of a field as text. */
export const shownValue = (value: AttributeValue | undefined): string => {
  if (value === undefined) return 'absent';
  const { S, N, B } = value;
  if (S !== undefined) return JSON.stringify(S);
  return N ?? (B === undefined ? 'of another type' : `of ${B.length} bytes`);
};

import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumber } from '../../../lib/contract/exact-json.ts';
import { toApiKeyRecord } from '../../../lib/keys/api-key.ts';
import { toStoredPet } from '../../../lib/pets/stored-pet.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';

/** Plans to remove a corrupt pet or API key. Throws for an item as the service writes them. */
export const removeItem = async (
  { dynamodb, tableOf }: OperatedStage,
  kind: TableKind,
  id: string,
): Promise<Step[]> => {
  const { name, type } = tables[kind].partitionKey;
  const Key = { [name]: type === 'NUMBER' ? { N: id } : { S: id } };
  const place = { TableName: tableOf(kind), Key };
  const { Item } = await dynamodb.send(new GetItemCommand({ ...place, ConsistentRead: true }));
  if (!Item) throw new Error(`There is no item ${id} in ${place.TableName}`);
  if (isWhole(kind, unmarshall(Item, { wrapNumbers: exactNumber })))
    throw new Error(`The item ${id} is not corrupt, and is not removed`);
  return [call(dynamodb, new DeleteItemCommand(place))];
};

/** Parses an item of each table, and throws for one that the service would not write. */
const parsers: Readonly<Record<TableKind, (item: Record<string, unknown>) => unknown>> = {
  pets: toStoredPet,
  keys: toApiKeyRecord,
};

const isWhole = (kind: TableKind, item: Record<string, unknown>): boolean => {
  try {
    parsers[kind](item);
    return true;
  } catch {
    return false;
  }
};

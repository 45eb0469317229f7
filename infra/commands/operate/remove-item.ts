import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type TableKind, tables } from '../../settings/tables.ts';
import type { DeployedStage } from '../open-stage.ts';
import type { Plan } from '../plan.ts';
import { existingTable } from './deployed-table.ts';
import { type ItemAttributes, isReadable, shown } from './item-attributes.ts';
import { operatedTables } from './operated-tables.ts';

/**
 * Plans to remove a corrupt pet or API key, unless somebody changes it meanwhile. Throws for an item that the
 * service can read for clients.
 */
export const removeItem = async (
  opened: DeployedStage,
  kind: TableKind,
  id: string,
): Promise<Plan> => {
  const { dynamodb } = opened;
  const { name, type } = tables[kind].partitionKey;
  // A corrupt pet can have any number of DynamoDB.
  if (type === 'NUMBER' && !/^-?\d+(\.\d+)?(E[+-]?\d+)?$/i.test(id))
    throw new Error(`The id of ${kind} must be a number`);
  const { name: TableName } = await existingTable(opened, kind);
  const place = { TableName, Key: { [name]: type === 'NUMBER' ? { N: id } : { S: id } } };
  const { Item } = await dynamodb.send(new GetItemCommand({ ...place, ConsistentRead: true }));
  if (!Item) throw new Error(`There is no item ${id} in ${TableName}`);
  if (isReadable(kind, Item))
    throw new Error(`The item ${id} is not corrupt: clients can read it, so it is not removed`);
  const deletion = new DeleteItemCommand({
    ...place,
    ...ifStill(kind, Item),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const remove = async () => {
    try {
      await dynamodb.send(deletion);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // Without an item, an attempt whose response was lost has removed it.
      if (error.Item === undefined) return;
      throw new Error(`The item ${id} was changed meanwhile, and is not removed`);
    }
  };
  return {
    notices: [operatedTables[kind].removalNotice],
    steps: [
      { description: `Delete from ${TableName} the item with ${shown(kind, Item)}`, run: remove },
    ],
  };
};

/** Returns the condition that no field of an item was changed, removed or added. */
const ifStill = (kind: TableKind, item: ItemAttributes) => {
  const conditions: string[] = [];
  const names: Record<string, string> = {};
  const values: ItemAttributes = {};
  for (const [at, field] of operatedTables[kind].fields.entries()) {
    const value = item[field];
    names[`#${at}`] = field;
    if (value !== undefined) values[`:${at}`] = value;
    conditions.push(value === undefined ? `attribute_not_exists(#${at})` : `#${at} = :${at}`);
  }
  return {
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};

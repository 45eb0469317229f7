import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { type CallContext, callDynamodb } from './call-dynamodb.ts';

/** An item as it is stored. */
export type StoredItem = Readonly<Record<string, unknown>>;

/** The item to read, by the name and the value of its partition key. */
interface ItemAddress {
  /** The table's name, and our own word for it, by which the log line of a failed call names it. */
  readonly table: { readonly name: string; readonly word: string };
  readonly key: readonly [name: string, value: string | number];
  /**
   * Whether the read sees every earlier write. Such a read costs 1 RCU. An eventually
   * consistent one costs 0.5 RCU.
   */
  readonly consistent: boolean;
}

/**
 * Gets an item, and gets it again when the output has another key. Returns `undefined` if there is no such
 * item. Throws what `callDynamodb` throws.
 */
export const getItem = async (
  { table, key: [keyName, key], consistent }: ItemAddress,
  context: CallContext,
): Promise<StoredItem | undefined> => {
  const command = new GetCommand({
    TableName: table.name,
    Key: { [keyName]: key },
    ConsistentRead: consistent,
  });
  const { Item } = await callDynamodb(
    `GetItem ${table.word}`,
    command,
    context,
    (output) => output.Item === undefined || output.Item[keyName] === key,
  );
  return Item;
};

/** Converts a stored item. Throws for a corrupt item, whose key is then logged. */
export const readItem = <Item>(
  item: StoredItem,
  keyName: string,
  convert: (item: StoredItem) => Item,
  { log }: CallContext,
): Item => {
  try {
    return convert(item);
  } catch (error) {
    log.addCorruptItem(`${item[keyName]}`);
    throw error;
  }
};

import { GetCommand, type GetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { type CallContext, callDynamodb } from './call-dynamodb.ts';

class CorruptItem extends Error {}

/** The item to read, by the name and the value of its partition key. */
interface ItemAddress {
  readonly table: string;
  readonly key: readonly [name: string, value: string | number];
  /**
   * Whether the read sees every earlier write. Such a read costs 1 RCU. An eventually
   * consistent one costs 0.5 RCU.
   */
  readonly consistent: boolean;
}

/**
 * Gets an item and converts it by `read`. Returns `undefined` if there is no such item. Retries when the
 * item has another key or `read` throws. Throws the SDK's errors, and an Error for a corrupt item.
 */
export const getItem = async <Item>(
  { table, key: [keyName, key], consistent }: ItemAddress,
  read: (item: Record<string, unknown>) => Item,
  context: CallContext,
): Promise<Item | undefined> => {
  const command = new GetCommand({
    TableName: table,
    Key: { [keyName]: key },
    ConsistentRead: consistent,
  });
  const check = ({ Item }: GetCommandOutput) => {
    if (!Item) return;
    if (Item[keyName] !== key) throw new Error('The answer holds an item of another key');
    try {
      read(Item);
    } catch {
      throw new CorruptItem('The item is corrupt');
    }
  };
  try {
    const { Item } = await callDynamodb(command, context, check);
    return Item && read(Item);
  } catch (error) {
    if (!(error instanceof CorruptItem)) throw error;
    context.record.noteCorruptItem(`${key}`);
    // `error` itself is not thrown, because it was marked as one that a retry may fix.
    throw new Error(error.message);
  }
};

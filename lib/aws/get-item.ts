import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { noteCorruptItem } from '../telemetry/telemetry.ts';
import { checkAnswer, dynamodb } from './dynamodb.ts';

class CorruptItem extends Error {}

/** Which item to read, by the name and the value of its partition key. */
interface ItemAddress {
  readonly table: string;
  readonly key: readonly [name: string, value: string | number];
  /** Whether the read sees every earlier write. It costs 1 RCU; an eventually consistent one costs 0.5 RCU. */
  readonly consistent: boolean;
}

/**
 * Gets an item and converts it by `read`; `undefined` if there is none.
 * Retries when the item has another key or `read` throws. Throws the SDK's errors; for a corrupt item, logs its key and throws the error of `read`.
 */
export const getItem = async <Item>(
  { table, key: [keyName, key], consistent }: ItemAddress,
  read: (item: Record<string, unknown>) => Item,
  signal: AbortSignal,
): Promise<Item | undefined> => {
  const command = new GetCommand({
    TableName: table,
    Key: { [keyName]: key },
    ConsistentRead: consistent,
  });
  let found: Item | undefined;
  checkAnswer(command, ({ Item }) => {
    if (Item && Item[keyName] !== key) throw new Error('The answer holds an item of another key');
    try {
      found = Item && read(Item);
    } catch (cause) {
      throw new CorruptItem('The item is corrupt', { cause });
    }
  });
  try {
    await dynamodb.send(command, { abortSignal: signal });
    return found;
  } catch (error) {
    if (!(error instanceof CorruptItem)) throw error;
    noteCorruptItem(`${key}`);
    throw error.cause;
  }
};

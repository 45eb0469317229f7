import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { checkAnswer, dynamodb } from './dynamodb.ts';
import { noteCorruptItem } from './telemetry.ts';

class CorruptItem extends Error {}

/**
 * Gets the item with a key, eventually consistent (0.5 RCU), and converts it by `read`; `undefined` if there is none.
 * Retries when the item has another key or `read` throws. Throws the SDK's errors; for a corrupt item, logs its key and throws the error of `read`.
 */
export const getItem = async <Item>(
  TableName: string,
  [keyName, key]: readonly [string, string | number],
  read: (item: Record<string, unknown>) => Item,
  signal: AbortSignal,
): Promise<Item | undefined> => {
  const command = new GetCommand({ TableName, Key: { [keyName]: key } });
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

import { marshall } from '@aws-sdk/util-dynamodb';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import type { Pet } from '../../lib/contract/pet.ts';
import { identifyApiKey } from '../../lib/keys/api-key.ts';

/** Pets of a usual size: one more than the longest page. */
const cannedPets: readonly Pet[] = Array.from({ length: maxLimit + 1 }, (_, index) => ({
  id: 2 ** 52 + index,
  name: `Rex the ${index}th of Animal Store`,
  categoryId: 1,
  status: 'available',
}));

/** Responds to requests like DynamoDB with one API key and always the same pets. */
export const cannedResponses = (apiKey: string) => {
  const key = identifyApiKey(apiKey, 'pets_test');
  if (!key) throw new Error('The API key is malformed');
  const keyItem = {
    ...marshall({ keyId: key.keyId, owner: 'example', lastFour: apiKey.slice(-4) }),
    createdAt: { S: '2026-01-01T00:00:00Z' },
    // In base64, as DynamoDB's JSON has it.
    hash: { B: Buffer.from(key.hash).toString('base64') },
  };
  const pet = marshall(cannedPets[0]);
  /** Returns the output of a call. An operation that a contributor adds may change or delete a pet. */
  const outputOf = (call: string, { Key, Limit }: Input): object => {
    if (call.startsWith('Query ')) {
      const Items = cannedPets.slice(0, Limit).map((each) => marshall(each));
      return { Items, Count: Items.length };
    }
    if (Key?.keyId) return Key.keyId.S === key.keyId ? { Item: keyItem } : {};
    if (call.startsWith('GetItem ')) return { Item: { ...pet, ...Key } };
    return Key ? { Attributes: { ...pet, ...Key } } : {};
  };
  return (target: string, text: string) => {
    const input: Input = JSON.parse(text);
    const call = `${target.replace('DynamoDB_20120810.', '')} ${input.TableName}`;
    return { call, body: JSON.stringify(outputOf(call, input)) };
  };
};

interface Input {
  readonly TableName: string;
  readonly Key?: { readonly keyId?: { readonly S: string } };
  readonly Limit?: number;
}

import { marshall } from '@aws-sdk/util-dynamodb';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import type { Pet } from '../../lib/contract/pet.ts';
import { type ApiKeyRecord, identifyApiKey } from '../../lib/keys/api-key.ts';

/** Pets of a usual size: one more than the longest page. */
export const cannedPets: readonly Pet[] = Array.from({ length: maxLimit + 1 }, (_, index) => ({
  id: 2 ** 52 + index,
  name: `Rex the ${index}th of Animal Store`,
  categoryId: 1,
  status: 'available',
}));

/** The record of a valid API key. */
const cannedRecord = (apiKey: string): ApiKeyRecord => {
  const identity = identifyApiKey(apiKey, 'pets_test');
  if (!identity) throw new Error('The API key is malformed');
  const lastFour = apiKey.slice(-4);
  return { ...identity, owner: 'example', lastFour, createdAt: '2026-01-01T00:00:00Z' };
};

interface Input {
  readonly TableName: string;
  readonly Key?: { readonly keyId: { readonly S: string } } | { readonly id: unknown };
  readonly Limit?: number;
}

/** The operation and table of a request, such as `Query Pets`, and the response in JSON. */
interface CannedResponse {
  readonly call: string;
  readonly body: string;
}

/** Responds to requests like DynamoDB with one API key and always the same pets. */
export const cannedResponses = (apiKey: string) => {
  const record = cannedRecord(apiKey);
  // In base64, as DynamoDB's JSON has it.
  const hash = { B: Buffer.from(record.hash).toString('base64') };
  const keyItem = { ...marshall({ ...record, hash: undefined }, omitUndefined), hash };
  const outputOf = (operation: string, { Key, Limit }: Input): object => {
    if (operation === 'Query') {
      const Items = cannedPets.slice(0, Limit).map((pet) => marshall(pet));
      return { Items, Count: Items.length };
    }
    if (operation === 'PutItem' || Key === undefined) return {};
    if ('id' in Key) {
      const item = { ...marshall(cannedPets[0]), id: Key.id };
      return operation === 'GetItem' ? { Item: item } : { Attributes: item };
    }
    return Key.keyId.S === record.keyId ? { Item: keyItem } : {};
  };
  return (target: string, text: string): CannedResponse => {
    const operation = target.replace('DynamoDB_20120810.', '');
    const input: Input = JSON.parse(text);
    return {
      call: `${operation} ${input.TableName}`,
      body: JSON.stringify(outputOf(operation, input)),
    };
  };
};

const omitUndefined = { removeUndefinedValues: true };

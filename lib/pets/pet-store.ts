import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { dynamodb } from '../aws/dynamodb.ts';
import { environment } from '../aws/environment.ts';
import { count } from '../aws/metrics.ts';
import { errors } from '../contract/errors.ts';
import { exactNumber } from '../contract/exact-json.ts';
import { metricNames } from '../contract/metric-names.ts';
import { type Pet, type PetStatus, petStatuses, toPet } from '../contract/pet.ts';
import type { ListPetsQuery, NewPet } from '../contract/request-schemas.ts';
import { statusIndex } from '../contract/tables.ts';
import { candidateId, creationOf, fingerprintOf, type IdempotencyScope } from './creation.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

const petsTable = environment('PETS_TABLE');

/** Two creations meet at an id with a chance of about one in 2^53 per pet; eight in a row mean a defect. */
const maxCandidates = 8;

/** The pet of an id, eventually consistent (0.5 RCU); `undefined` if there is none. */
export const get = async (id: number, signal: AbortSignal): Promise<Pet | undefined> => {
  const command = new GetCommand({ TableName: petsTable, Key: { id } });
  const { Item } = await dynamodb.send(command, { abortSignal: signal });
  return Item && toPet(Item);
};

/**
 * Adds a pet under a fresh id, or finds the one that this creation has added before (1 request, 2 WCU).
 * Throws `idempotency_key_reused` when the key stands for another pet.
 */
export const create = async (
  newPet: NewPet,
  scope: IdempotencyScope,
  signal: AbortSignal,
): Promise<Pet> => {
  const creation = creationOf(scope);
  const fingerprint = fingerprintOf(newPet);
  for (let attempt = 0; attempt < maxCandidates; attempt += 1) {
    const pet = { id: candidateId(creation, attempt), ...newPet };
    const occupant = await putUnlessTaken({ ...pet, creation, fingerprint }, signal);
    if (!occupant) return pet;
    if (isSameBytes(occupant['creation'], creation)) {
      if (!isSameBytes(occupant['fingerprint'], fingerprint)) throw errors.idempotencyKeyReused();
      // Without a key it is a retry of the service's own, after a lost answer.
      if (scope.key !== undefined) count(metricNames.idempotentReplays);
      return toPet(occupant);
    }
  }
  throw new Error('Every candidate id is taken');
};

/** A page of a list, in the order of status and id. */
export interface Page {
  readonly pets: readonly Pet[];
  /** Leads to the next page; absent on the last. */
  readonly nextCursor: string | undefined;
}

/**
 * One page of the pets, of one status or of all, eventually consistent. Costs 1 request and 0.5 RCU per started
 * 4 KB, and a request more for each status that ends within the page. Throws `invalid_request` for a foreign cursor.
 */
export const list = async (
  { limit, status, cursor }: ListPetsQuery,
  signal: AbortSignal,
): Promise<Page> => {
  const start = cursor === undefined ? undefined : decodeCursor(cursor, status);
  const found: Pet[] = [];
  for (const current of status ? [status] : statusesFrom(start?.status)) {
    const after = current === start?.status ? start.id : 0;
    // One more than the page holds tells whether there is a next one.
    found.push(...(await readStatus(current, after, limit + 1 - found.length, signal)));
    if (found.length > limit) break;
  }
  const pets = found.slice(0, limit);
  const last = pets.at(-1);
  return {
    pets,
    nextCursor: last && found.length > limit ? encodeCursor(last, status) : undefined,
  };
};

const statusesFrom = (first: PetStatus = petStatuses[0]) =>
  petStatuses.slice(petStatuses.indexOf(first));

/** The first pets of a status whose id lies after the given one. */
const readStatus = async (
  status: PetStatus,
  after: number,
  count: number,
  signal: AbortSignal,
): Promise<Pet[]> => {
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: petsTable,
      IndexName: statusIndex,
      KeyConditionExpression: '#status = :status AND id > :after',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':status': status, ':after': after },
      Limit: count,
    }),
    { abortSignal: signal },
  );
  return Items.map(toPet);
};

/** Writes the item unless its id is taken; then it gives the item that holds the id. */
const putUnlessTaken = async (
  item: { readonly id: number } & Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> => {
  try {
    await dynamodb.send(
      new PutCommand({
        TableName: petsTable,
        Item: item,
        ConditionExpression: 'attribute_not_exists(id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
      { abortSignal: signal },
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException && error.Item)) throw error;
    return { id: item.id, ...fieldsOf(error.Item) };
  }
};

/** The document client converts answers, but not the item of an exception. */
const fieldsOf = (item: Record<string, AttributeValue>) => ({
  name: item['name']?.S,
  categoryId: exactNumber(item['categoryId']?.N ?? ''),
  status: item['status']?.S,
  creation: item['creation']?.B,
  fingerprint: item['fingerprint']?.B,
});

const isSameBytes = (stored: unknown, bytes: Buffer) =>
  stored instanceof Uint8Array && bytes.equals(stored);

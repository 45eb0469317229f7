import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { checkAnswer, dynamodb } from '../aws/dynamodb.ts';
import { getItem } from '../aws/get-item.ts';
import { type Pet, type PetStatus, petStatuses } from '../contract/bodies.ts';
import { errors } from '../contract/errors.ts';
import { exactNumber } from '../contract/exact-json.ts';
import { toPet } from '../contract/pet.ts';
import type { ListPetsQuery, NewPet } from '../contract/requests.ts';
import { environment } from '../environment.ts';
import { metricNames } from '../telemetry/metric-names.ts';
import { count, noteCorruptItem } from '../telemetry/telemetry.ts';
import { candidateId, creationOf, fingerprintOf, type IdempotencyScope } from './creation.ts';
import { decodeCursor, encodeCursor, type Position } from './cursor.ts';
import { statusIndex } from './status-index.ts';

const petsTable = environment('PETS_TABLE');

/** The page ends, even if empty, after this many answers in a row with neither a pet nor a later position. */
const maxIdleAnswers = 25;

/** A candidate id is taken with a chance of about one in 2^53 per stored pet; eight in a row mean a defect. */
const maxCandidates = 8;

/** The pet of an id, strongly consistent (1 RCU); `undefined` if there is none. Throws for a corrupt item. */
export const get = (id: number, signal: AbortSignal): Promise<Pet | undefined> =>
  getItem({ table: petsTable, key: ['id', id], consistent: true }, toPet, signal);

/**
 * Adds a pet under a fresh id, or finds the one that this creation has added before (1 request, 2 WCU).
 * Throws `idempotency_key_reused` when the key was used for another pet.
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
      // Without an Idempotency-Key, the service itself has retried after a lost answer.
      if (scope.key !== undefined) count(metricNames.idempotentReplays);
      return readPet(occupant);
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
 * One page of the pets, of one status or of all, eventually consistent. Costs 0.5 RCU per started 4 KB, and 1
 * request. Each further status, and each answer that is cut short or has corrupt items, costs at most one more request.
 * Leaves out corrupt items; the log names their ids. When time runs out after an answer, it returns what it found: maybe
 * an empty page with a cursor. Throws `invalid_request` for a foreign cursor.
 */
export const list = async (
  { limit, status, cursor }: ListPetsQuery,
  signal: AbortSignal,
): Promise<Page> => {
  const start = cursor === undefined ? startOf(status) : decodeCursor(cursor, status);
  const found: Pet[] = [];
  let position: Position | undefined = start;
  for (let idle = 0; position && found.length <= limit && idle < maxIdleAnswers; ) {
    try {
      // Reads one pet more than the page holds, to find out whether there is a next page.
      const read = await readFrom(position, limit + 1 - found.length, signal);
      found.push(...read.pets);
      idle = read.end && read.end.id === position.id ? idle + 1 : 0;
      position = read.end ?? (status ? undefined : startAfter(position.status));
    } catch (error) {
      if (position === start || !signal.aborted) throw error;
      break;
    }
  }
  const pets = found.slice(0, limit);
  const end = found.length > limit ? pets.at(-1) : position;
  return { pets, nextCursor: end && encodeCursor(end, status) };
};

const startOf = (status: PetStatus = petStatuses[0]): Position => ({ status, id: 0 });

const startAfter = (status: PetStatus): Position | undefined => {
  const next = petStatuses[petStatuses.indexOf(status) + 1];
  return next && startOf(next);
};

/**
 * The first pets of a status after a position. `end` is where DynamoDB stopped, which may be anywhere: only an answer
 * without `end` is the last of its status (Query's LastEvaluatedKey in the DynamoDB API reference).
 */
const readFrom = async ({ status, id }: Position, count: number, signal: AbortSignal) => {
  const command = new QueryCommand({
    TableName: petsTable,
    IndexName: statusIndex,
    KeyConditionExpression: '#status = :status AND id > :after',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': status, ':after': id },
    Limit: count,
  });
  checkAnswer(command, ({ Items, LastEvaluatedKey }) => {
    let last = id;
    for (const item of Items ?? [{}]) {
      // A comparison with NaN is false.
      if (!(item['status'] === status && Number(item['id']) > last)) throw implausible();
      last = Number(item['id']);
    }
    if (
      LastEvaluatedKey &&
      !(LastEvaluatedKey['status'] === status && Number(LastEvaluatedKey['id']) >= last)
    ) {
      throw implausible();
    }
  });
  const { Items = [], LastEvaluatedKey } = await dynamodb.send(command, { abortSignal: signal });
  return {
    pets: Items.flatMap((item) => {
      try {
        return [readPet(item)];
      } catch {
        return [];
      }
    }),
    end: LastEvaluatedKey && { status, id: Number(LastEvaluatedKey['id']) },
  };
};

const implausible = () => new Error("The answer can't be that of the query");

/** A stored item as a pet. Throws for a corrupt one, whose id the log then names. */
const readPet = (item: Record<string, unknown>): Pet => {
  try {
    return toPet(item);
  } catch (error) {
    noteCorruptItem(`${item['id']}`);
    throw error;
  }
};

/** Writes the item. If its id is taken, writes nothing and returns the item that has it. */
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

/** The document client converts responses, but not the item of an exception. */
const fieldsOf = (item: Record<string, AttributeValue>) => ({
  name: item['name']?.S,
  categoryId: exactNumber(item['categoryId']?.N ?? ''),
  status: item['status']?.S,
  creation: item['creation']?.B,
  fingerprint: item['fingerprint']?.B,
});

const isSameBytes = (stored: unknown, bytes: Buffer) =>
  stored instanceof Uint8Array && bytes.equals(stored);

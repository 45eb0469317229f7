import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  NumberValue,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import {
  type CallContext,
  callDynamodb,
  implausibleOutput,
  withRetries,
} from '../aws/call-dynamodb.ts';
import { dynamodb } from '../aws/dynamodb.ts';
import { getItem, readItem, type StoredItem } from '../aws/get-item.ts';
import { errors } from '../contract/errors.ts';
import { exactNumber } from '../contract/exact-json.ts';
import type { ListPetsQuery } from '../contract/list-pets-query.ts';
import { type NewPet, type Pet, type PetStatus, petStatuses } from '../contract/pet.ts';
import { environment } from '../environment.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';
import { candidateId, creationOf, fingerprintOf, type IdempotencyScope } from './creation.ts';
import { decodeCursor, encodeCursor, type Position, unknownCursor } from './cursor.ts';
import { type StoredPet, statusIndex, toPet, toStoredPet } from './stored-pet.ts';

const petsTable = environment('PETS_TABLE');

/**
 * The least number of items that a list asks for after a query that found no pet but does not end its status,
 * so that it passes a run of corrupt items quickly.
 */
const limitAfterNoPet = 25;

/**
 * The maximum number of ids that a creation tries. An id is taken with a chance of about one in 2^53 per
 * stored pet, so eight taken ids in a row mean a defect.
 */
const maxCandidates = 8;

/**
 * Returns the pet with an id, strongly consistent (1 RCU), or `undefined` if there is none.
 * Throws for a corrupt item.
 */
export const get = async (id: number, context: CallContext): Promise<Pet | undefined> => {
  const item = await getItem({ table: petsTable, key: ['id', id], consistent: true }, context);
  return item && read(item, toPet, context);
};

/** The result of `create`. */
interface CreatedPet {
  readonly pet: Pet;
  /**
   * Whether an earlier request added the pet. `false` proves nothing: after a retry of
   * our own, nobody can tell.
   */
  readonly isReplay: boolean;
}

/**
 * Adds a pet under a fresh id, or finds the one that this creation has added before (1 request, 2 WCU for an
 * item of up to 1 KB). Throws `idempotency_key_reused` when the key was used for another pet. Throws for a
 * corrupt item under a candidate id, because it may be this creation's pet.
 */
export const create = async (
  newPet: NewPet,
  scope: IdempotencyScope,
  context: CallContext,
): Promise<CreatedPet> => {
  const creation = creationOf(scope);
  const fingerprint = fingerprintOf(newPet);
  for (let candidate = 0; candidate < maxCandidates; candidate += 1) {
    const pet = { id: candidateId(creation, candidate), ...newPet };
    const taken = await putUnlessTaken({ ...pet, creation, fingerprint }, context);
    if (!taken) return { pet, isReplay: false };
    const { existing, wasThereBefore } = taken;
    const stored = read(existing, toStoredPet, context);
    if (!creation.equals(stored.creation)) continue;
    if (!fingerprint.equals(stored.fingerprint)) throw errors.idempotencyKeyReused();
    return { pet: toPet(stored), isReplay: wasThereBefore };
  }
  throw new LoggableError('Every candidate id is taken');
};

/** A page of a list, in the order of status and id. */
export interface Page {
  readonly pets: readonly Pet[];
  /** The cursor of the next page; absent on the last page. */
  readonly nextCursor: string | undefined;
}

/**
 * Returns one page of the pets, of one status or of all, eventually consistent. It continues after the
 * position of the cursor until the page is full or the list ends (0.5 RCU per started 4 KB, in 1 request, and
 * one more for each further status and each query that is cut short or finds corrupt items). Leaves out
 * corrupt items, whose ids are logged. When the request's deadline passes after a query, it returns what it
 * found, which can be an empty page with a cursor. Throws `invalid_request` for a cursor that is not of this
 * list.
 */
export const list = async (
  { limit, cursor, ...filter }: ListPetsQuery,
  context: CallContext,
): Promise<Page> => {
  const { status } = filter;
  const start =
    cursor === undefined ? startOf(status ?? petStatuses[0]) : decodeCursor(cursor, filter);
  const pets: Pet[] = [];
  let position: Position | undefined = start;
  let leastLimit = 1;
  try {
    // One pet more than the page shows tells whether there is a next page.
    while (position && pets.length <= limit) {
      const missing = limit + 1 - pets.length;
      const found = await queryStatus(position, Math.max(missing, leastLimit), context);
      pets.push(...found.pets);
      leastLimit = found.end && found.pets.length === 0 ? limitAfterNoPet : 1;
      position = found.end ?? (status ? undefined : startAfter(position.status));
    }
  } catch (error) {
    const isFirstQuery = position === start;
    // DynamoDB refuses a position that no item can have. Only a forged cursor has one.
    if (isFirstQuery && start.id !== undefined && isRefused(error)) throw unknownCursor();
    if (isFirstQuery || !context.signal.aborted) throw error;
  }
  const shown = pets.slice(0, limit);
  const last = shown.at(-1);
  const end = last && pets.length > limit ? positionOf(last) : position;
  return { pets: shown, nextCursor: end && encodeCursor(end, filter) };
};

const startOf = (status: PetStatus): Position => ({ status });

const startAfter = (status: PetStatus): Position | undefined => {
  const next = petStatuses[petStatuses.indexOf(status) + 1];
  return next && startOf(next);
};

const positionOf = ({ status, id }: { readonly status: PetStatus; readonly id: unknown }) => ({
  status,
  id: `${id}`,
});

/**
 * Reads the items of a status after a position, and returns the pets among them. `end` is the position where
 * DynamoDB stopped, which can be anywhere. Only an output without a LastEvaluatedKey, or with an empty one,
 * is the last one of its status (Query in the DynamoDB API reference).
 */
const queryStatus = async ({ status, id }: Position, limit: number, context: CallContext) => {
  const command = new QueryCommand({
    TableName: petsTable,
    IndexName: statusIndex,
    KeyConditionExpression: '#status = :status',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': status },
    ...(id !== undefined && { ExclusiveStartKey: { status, id: NumberValue.from(id) } }),
    Limit: limit,
  });
  const endOf = ({ LastEvaluatedKey: key = {} }: QueryCommandOutput) =>
    Object.keys(key).length === 0 ? undefined : positionOf({ status, id: key['id'] });
  const isPlausible = (output: QueryCommandOutput) => {
    const end = endOf(output);
    // A list that continues at its start never ends.
    if (end && end.id === id) return false;
    return output.Items?.every((item) => item['status'] === status) ?? false;
  };
  const output = await callDynamodb(command, context, isPlausible);
  return { pets: petsAmong(output.Items, context), end: endOf(output) };
};

/** Tells whether DynamoDB refused the parameters of a call. */
const isRefused = (error: unknown) =>
  error instanceof Error && error.name === 'ValidationException';

/** Returns the pets among stored items. The ids of the other items are logged. */
const petsAmong = (items: readonly StoredItem[] = [], context: CallContext): Pet[] =>
  items.flatMap((item) => {
    try {
      return [read(item, toPet, context)];
    } catch {
      return [];
    }
  });

/** Converts a stored item. Throws for a corrupt item, whose id is then logged. */
const read = <Item>(
  item: StoredItem,
  convert: (item: StoredItem) => Item,
  context: CallContext,
): Item => readItem(item, 'id', convert, context);

/**
 * Writes the item. If its id is taken, writes nothing and returns the item that has it, and whether that was
 * there before the first attempt. It uses `withRetries` itself, because it checks the item of an error and
 * needs the number of the attempt.
 */
const putUnlessTaken = (item: StoredPet, context: CallContext) => {
  const command = new PutCommand({
    TableName: petsTable,
    Item: item,
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  return withRetries(context, async (abortSignal, attempt) => {
    try {
      await dynamodb.send(command, { abortSignal });
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException && error.Item)) throw error;
      if (error.Item['id']?.N !== `${item.id}`) throw implausibleOutput();
      // The document client converts responses, but not the item of an exception.
      const existing = unmarshall(error.Item, { wrapNumbers: exactNumber });
      return { existing, wasThereBefore: attempt === 1 };
    }
  });
};

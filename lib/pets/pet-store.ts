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
import { dynamodb, storedNumber } from '../aws/dynamodb.ts';
import { getItem, readItem, type StoredItem } from '../aws/get-item.ts';
import { errors } from '../contract/errors.ts';
import type { ListPetsQuery } from '../contract/list-pets-query.ts';
import { type NewPet, type Pet, type PetStatus, petStatuses } from '../contract/pet.ts';
import { environment } from '../environment.ts';
import { isPast } from '../telemetry/elapsed-ms.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';
import { candidateId, creationOf, fingerprintOf, type IdempotencyScope } from './creation.ts';
import { decodeCursor, encodeCursor, type Filter, type Position, unknownCursor } from './cursor.ts';
import { type StoredPet, statusIndex, toPet, toStoredPet } from './stored-pet.ts';

const petsTable = { name: environment('PETS_TABLE'), word: 'pets' };

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
  return item && readItem(item, 'id', toPet, context);
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
    const stored = readItem(existing, 'id', toStoredPet, context);
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
  const start =
    cursor === undefined
      ? { status: filter.status ?? petStatuses[0] }
      : decodeCursor(cursor, filter);
  // One pet more than the page shows tells whether there is a next page.
  const wanted = limit + 1;
  const first = await query(start, wanted, filter, context).catch((error: unknown) => {
    // DynamoDB refuses a position that no item can have. Only a forged cursor has one.
    const isRefused = error instanceof Error && error.name === 'ValidationException';
    throw start.id !== undefined && isRefused ? unknownCursor() : error;
  });
  const { pets, next } = await continued(first, wanted, filter, context);
  const shown = pets.slice(0, limit);
  const last = shown.at(-1);
  const end = last && pets.length > limit ? positionOf(last) : next;
  return { pets: shown, nextCursor: end && encodeCursor(end, filter) };
};

/** The pets that were found, and where the list goes on; `next` is `undefined` at the end of the list. */
interface Found {
  readonly pets: readonly Pet[];
  readonly next: Position | undefined;
}

/** Continues a list until it has as many pets as wanted, ends, or the request's deadline passes. */
const continued = async (
  first: Found,
  wanted: number,
  filter: Filter,
  context: CallContext,
): Promise<Found> => {
  const pets = [...first.pets];
  let latest = first;
  while (latest.next && pets.length < wanted) {
    const missing = wanted - pets.length;
    // A position with an id does not start another status.
    const isStuck = latest.pets.length === 0 && latest.next.id !== undefined;
    const queryLimit = isStuck ? Math.max(missing, limitAfterNoPet) : missing;
    const more = await query(latest.next, queryLimit, filter, context).catch((error: unknown) => {
      if (!isPast(context.deadline)) throw error;
    });
    if (!more) break;
    pets.push(...more.pets);
    latest = more;
  }
  return { pets, next: latest.next };
};

const startAfter = (status: PetStatus): Position | undefined => {
  const next = petStatuses[petStatuses.indexOf(status) + 1];
  return next && { status: next };
};

const positionOf = ({ status, id }: { readonly status: PetStatus; readonly id: unknown }) => ({
  status,
  id: `${id}`,
});

/**
 * Reads items of one status after a position, and returns the pets among them. DynamoDB can stop anywhere.
 * Only an output without a LastEvaluatedKey, or with an empty one, is the last one of its status (Query in
 * the DynamoDB API reference).
 */
const query = async (
  { status, id }: Position,
  limit: number,
  filter: Filter,
  context: CallContext,
): Promise<Found> => {
  const command = new QueryCommand({
    TableName: petsTable.name,
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
  const output = await callDynamodb('Query pets', command, context, isPlausible);
  const next = endOf(output) ?? (filter.status ? undefined : startAfter(status));
  return { pets: petsAmong(output.Items, context), next };
};

/** Returns the pets among stored items. The ids of the other items are logged. */
const petsAmong = (items: readonly StoredItem[] = [], context: CallContext): Pet[] =>
  items.flatMap((item) => {
    try {
      return [readItem(item, 'id', toPet, context)];
    } catch {
      return [];
    }
  });

/**
 * Writes the item. If its id is taken, writes nothing and returns the item that has it, and whether that was
 * there before the first attempt. It uses `withRetries` itself, because it checks the item of an error and
 * needs the number of the attempt.
 */
const putUnlessTaken = (item: StoredPet, context: CallContext) => {
  const command = new PutCommand({
    TableName: petsTable.name,
    Item: item,
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  return withRetries('PutItem pets', context, async (abortSignal, attempt) => {
    try {
      await dynamodb.send(command, { abortSignal });
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException && error.Item)) throw error;
      if (error.Item['id']?.N !== `${item.id}`) throw implausibleOutput();
      // The document client converts responses, but not the item of an exception.
      const existing = unmarshall(error.Item, { wrapNumbers: storedNumber });
      return { existing, wasThereBefore: attempt === 1 };
    }
  });
};

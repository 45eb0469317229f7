import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  NumberValue,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type CallContext, callDynamodb } from '../aws/call-dynamodb.ts';
import { getItem } from '../aws/get-item.ts';
import { errors } from '../contract/errors.ts';
import { exactNumber } from '../contract/exact-json.ts';
import type { ListPetsQuery } from '../contract/list-pets-query.ts';
import { type NewPet, type Pet, type PetStatus, petStatuses } from '../contract/pet.ts';
import { environment } from '../environment.ts';
import { metricNames } from '../telemetry/metric-names.ts';
import { candidateId, creationOf, fingerprintOf, type IdempotencyScope } from './creation.ts';
import { decodeCursor, encodeCursor, type Position } from './cursor.ts';
import { integerPartOf } from './integer-part.ts';
import { statusIndex } from './status-index.ts';
import { type StoredPet, toPet, toStoredPet } from './stored-pet.ts';

const petsTable = environment('PETS_TABLE');

/**
 * The number of answers in a row, with neither a pet nor a later position, after which a page
 * ends, even if it is empty.
 */
const maxIdleAnswers = 25;

/**
 * The maximum number of ids that a creation tries. An id is taken with a chance of about one in 2^53 per
 * stored pet, so eight taken ids in a row mean a defect.
 */
const maxCandidates = 8;

/**
 * Returns the pet with an id, strongly consistent (1 RCU), or `undefined` if there is none.
 * Throws for a corrupt item.
 */
export const get = (id: number, context: CallContext): Promise<Pet | undefined> =>
  getItem({ table: petsTable, key: ['id', id], consistent: true }, toPet, context);

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
 * item of up to 1 KB). Throws `idempotency_key_reused` when the key was used for another pet.
 */
export const create = async (
  newPet: NewPet,
  scope: IdempotencyScope,
  context: CallContext,
): Promise<CreatedPet> => {
  const creation = creationOf(scope);
  const fingerprint = fingerprintOf(newPet);
  for (let attempt = 0; attempt < maxCandidates; attempt += 1) {
    const pet = { id: candidateId(creation, attempt), ...newPet };
    const taken = await putUnlessTaken({ ...pet, creation, fingerprint }, context);
    if (!taken) return { pet, isReplay: false };
    const { occupant, isFirstAttempt: isReplay } = taken;
    if (isSameBytes(occupant['creation'], creation)) {
      const stored = read(occupant, toStoredPet, context);
      if (!fingerprint.equals(stored.fingerprint)) throw errors.idempotencyKeyReused();
      if (isReplay) context.record.count(metricNames.idempotentReplays);
      return { pet: toPet(stored), isReplay };
    }
  }
  throw new Error('Every candidate id is taken');
};

/** A page of a list, in the order of status and id. */
export interface Page {
  readonly pets: readonly Pet[];
  /** The cursor of the next page; absent on the last page. */
  readonly nextCursor: string | undefined;
}

/**
 * Returns one page of the pets, of one status or of all, eventually consistent. It costs 0.5 RCU per
 * started 4 KB, in 1 request. Each further status, and each answer that is cut short or has corrupt items,
 * costs at most one more request. Leaves out corrupt items, whose ids are logged. When time runs out after
 * an answer, it returns what it found, which can be an empty page with a cursor. Throws `invalid_request`
 * for a cursor of another filter.
 */
export const list = async (
  { limit, status, cursor }: ListPetsQuery,
  context: CallContext,
): Promise<Page> => {
  const start = cursor === undefined ? startOf(status) : decodeCursor(cursor, status);
  const found: Pet[] = [];
  let position: Position | undefined = start;
  try {
    // Reads one pet more than the page holds, to find out whether there is a next page.
    for await (const part of readList(start, status, limit + 1, context)) {
      found.push(...part.pets);
      position = part.end;
    }
  } catch (error) {
    const hasRead = position !== start;
    if (!hasRead || !context.signal.aborted) throw error;
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
 * The pets of one answer, and the position at which the list continues. Without an
 * `end`, the list is complete.
 */
interface Part {
  readonly pets: readonly Pet[];
  readonly end: Position | undefined;
}

/**
 * Reads a list from a position, one answer at a time, until it has as many pets as are wanted
 * or the list is complete.
 */
async function* readList(
  start: Position,
  filter: PetStatus | undefined,
  wanted: number,
  context: CallContext,
): AsyncGenerator<Part, void> {
  let position: Position | undefined = start;
  let firstId = start.id === 0 ? smallestNumber : idAfter(start.id);
  let missing = wanted;
  let idleAnswers = 0;
  while (position && missing > 0 && idleAnswers < maxIdleAnswers) {
    const { status, id }: Position = position;
    const { pets, lastId } = await query({ status, firstId, limit: missing }, context);
    missing -= pets.length;
    if (lastId === undefined) {
      position = filter ? undefined : startAfter(status);
      firstId = smallestNumber;
    } else {
      position = { status, id: lastId };
      firstId = idAfter(lastId);
    }
    idleAnswers = lastId === id ? idleAnswers + 1 : 0;
    yield { pets, end: position };
  }
}

/**
 * The smallest number that DynamoDB stores. Reading a status starts here, so that the log names ids below 1.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
 */
const smallestNumber = NumberValue.from('-9.9999999999999999999999999999999999999E+125');

/** Returns the next id, as a `bigint`, because the largest id is the largest safe integer. */
const idAfter = (id: number) => BigInt(id) + 1n;

interface QueryRange {
  readonly status: PetStatus;
  readonly firstId: bigint | NumberValue;
  readonly limit: number;
}

/**
 * Reads the first pets of a status from an id on. `lastId` is the position where DynamoDB stopped, as an
 * integer from 0. DynamoDB may stop anywhere: only an answer without a LastEvaluatedKey is the last one of
 * its status (Query in the DynamoDB API reference). Above the largest id of a pet there are only corrupt
 * items, so a key there is the end of the status too.
 */
const query = async ({ status, firstId, limit }: QueryRange, context: CallContext) => {
  const command = new QueryCommand({
    TableName: petsTable,
    IndexName: statusIndex,
    KeyConditionExpression: '#status = :status AND id >= :firstId',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': status, ':firstId': firstId },
    Limit: limit,
  });
  const check = ({ Items, LastEvaluatedKey }: QueryCommandOutput) => {
    let last = typeof firstId === 'bigint' ? Number(firstId) - 1 : 0;
    for (const item of Items ?? [{}]) {
      const id = integerPartOfId(item);
      const isIdOfPet = item['id'] === id && id > 0;
      // Two corrupt ids may have the same integer part. A comparison with NaN is false.
      const isAhead = isIdOfPet ? id > last : id >= last;
      if (!(item['status'] === status && isAhead)) throw implausible();
      last = id;
    }
    if (
      LastEvaluatedKey &&
      !(LastEvaluatedKey['status'] === status && integerPartOfId(LastEvaluatedKey) >= last)
    ) {
      throw implausible();
    }
  };
  const { Items = [], LastEvaluatedKey } = await callDynamodb(command, context, check);
  const lastId = LastEvaluatedKey && integerPartOfId(LastEvaluatedKey);
  return {
    pets: Items.flatMap((item) => {
      try {
        return [read(item, toPet, context)];
      } catch {
        return [];
      }
    }),
    lastId: lastId !== undefined && lastId < Number.MAX_SAFE_INTEGER ? lastId : undefined,
  };
};

/**
 * Returns the integer part of an item's id, and 0 for a negative id. It is computed from the digits, because
 * a pet may have the next id.
 */
const integerPartOfId = (item: Record<string, unknown>) =>
  Math.max(0, integerPartOf(`${item['id']}`));

const implausible = () => new Error("The answer can't be that of the query");

/** Converts a stored item. Throws for a corrupt item, whose id is then logged. */
const read = <Item>(
  item: Record<string, unknown>,
  convert: (item: Record<string, unknown>) => Item,
  { record }: CallContext,
): Item => {
  try {
    return convert(item);
  } catch (error) {
    record.noteCorruptItem(`${item['id']}`);
    throw error;
  }
};

/**
 * An item that has the id of another, and whether it had the id before the first attempt to write the other.
 */
interface TakenId {
  readonly occupant: Record<string, unknown>;
  readonly isFirstAttempt: boolean;
}

/** Writes the item. If its id is taken, writes nothing and returns the item that has it. */
const putUnlessTaken = async (
  item: StoredPet,
  context: CallContext,
): Promise<TakenId | undefined> => {
  try {
    await callDynamodb(
      new PutCommand({
        TableName: petsTable,
        Item: item,
        ConditionExpression: 'attribute_not_exists(id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
      context,
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException && error.Item)) throw error;
    return {
      // The document client converts responses, but not the item of an exception.
      occupant: unmarshall(error.Item, { wrapNumbers: exactNumber }),
      isFirstAttempt: error.$metadata.attempts === 1,
    };
  }
};

const isSameBytes = (stored: unknown, bytes: Buffer) =>
  stored instanceof Uint8Array && bytes.equals(stored);

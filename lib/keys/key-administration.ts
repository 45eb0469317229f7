import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateScan,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  type ApiKeyPrefix,
  type ApiKeyRecord,
  generateApiKey,
  identifyApiKey,
  isInForce,
  toApiKeyRecord,
} from './api-key.ts';

/** A newly issued API key. Only its hash is stored, so this is the only copy of the whole key. */
export interface IssuedApiKey {
  readonly apiKey: string;
  readonly record: ApiKeyRecord;
}

/** A key that was issued in place of another one. */
export interface RotatedApiKey extends IssuedApiKey {
  /** The key that the new one replaces. It ends after the grace period at the latest. */
  readonly previous: { readonly keyId: string; readonly expiresAt: string };
}

/** The options of a rotation. Times are in ms. */
export interface Rotation {
  /** How long the old key stays valid, unless it ends sooner. */
  readonly graceMs: number;
  /** The lifetime of the successor. The default is the lifetime with which the old key was issued. */
  readonly lifetimeMs?: number | undefined;
  /** Whether to rotate a key that was rotated before. */
  readonly again?: boolean | undefined;
}

/** What a key grants: its record without what belongs to this one key. A successor grants the same. */
export type Grants = ReturnType<typeof grantsOf>;

const grantsOf = (record: ApiKeyRecord) => {
  const { keyId, hash, lastFour, createdAt, expiresAt, revokedAt, successor, ...grants } = record;
  return grants;
};

const endOf = ({ expiresAt }: ApiKeyRecord) =>
  expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);

/**
 * Returns the time of AWS in ms, to within 4 minutes: the SDK corrects a clock that is further off, by the
 * latest response that this client got (`isClockSkewed` in `@aws-sdk/core`). The clock of an operator's
 * machine may be hours off, such as that of WSL 2 after sleep, and would decide when keys end.
 */
export const timeOfAws = ({ config }: Pick<DynamoDBClient, 'config'>): number =>
  Date.now() + config.systemClockOffset;

/** The error of an id that no key has. Whoever gives a whole key instead does not read its secret again. */
const unknownKey = (keyId: string) =>
  new Error(
    /^[0-9a-f]{16}$/.test(keyId)
      ? `There is no key ${keyId}`
      : 'That is no id of a key. It has 16 hexadecimal digits, such as <id> in pets_test_<id>_<secret>',
  );

/**
 * Throws for a key that is not in force at a time in ms, or that was rotated already unless it may be rotated
 * again.
 */
const checkRotation = (record: ApiKeyRecord, time: number, again: boolean) => {
  const { keyId, successor } = record;
  if (!isInForce(record, time))
    throw new Error(`Key ${keyId} is no longer in force: issue a new one instead`);
  if (successor !== undefined && !again)
    throw new Error(
      `Key ${keyId} was rotated already, to ${successor}: revoke that key if it was lost, and add --again`,
    );
};

/** Tells whether DynamoDB cancelled a transaction for this reason. */
const isCancelledBy = (
  reason: 'ConditionalCheckFailed' | 'TransactionConflict',
  error: unknown,
): boolean =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.some(({ Code }) => Code === reason) === true;

/**
 * Returns the functions with which operators issue, list, rotate and revoke the API keys of one prefix. The
 * client must have had a response already, or have the clock offset of one that had: see `timeOfAws`.
 */
export const keyAdministration = (
  dynamodb: DynamoDBDocumentClient,
  TableName: string,
  prefix: ApiKeyPrefix,
) => {
  /** Returns a key with these grants, which is not stored yet. Throws for an `apiKey` of another prefix. */
  const makeKey = (
    { lifetimeMs, ...others }: Grants,
    apiKey = generateApiKey(prefix),
  ): IssuedApiKey => {
    const identity = identifyApiKey(apiKey, prefix);
    if (!identity) throw new Error(`The API key is not one that starts with ${prefix}`);
    const now = timeOfAws(dynamodb);
    const record = {
      ...others,
      ...identity,
      lastFour: apiKey.slice(-4),
      createdAt: new Date(now).toISOString(),
      ...(lifetimeMs !== undefined && {
        lifetimeMs,
        expiresAt: new Date(now + lifetimeMs).toISOString(),
      }),
    };
    return { apiKey, record };
  };

  /** Issues a key with these grants. Throws for an `apiKey` of another prefix. */
  const issue = async (grants: Grants, apiKey?: string): Promise<IssuedApiKey> => {
    const issued = makeKey(grants, apiKey);
    await dynamodb.send(new PutCommand({ TableName, Item: issued.record }));
    return issued;
  };

  /** Returns the record of a key. Throws for an unknown key. */
  const find = async (keyId: string): Promise<ApiKeyRecord> => {
    const get = new GetCommand({ TableName, Key: { keyId }, ConsistentRead: true });
    const { Item } = await dynamodb.send(get);
    if (!Item) throw unknownKey(keyId);
    return toApiKeyRecord(Item);
  };

  /** Returns every key, the oldest first. Leaves out malformed items and reports the `keyId` of each. */
  const list = async (reportMalformed: (keyId: unknown) => void): Promise<ApiKeyRecord[]> => {
    const records: ApiKeyRecord[] = [];
    const pages = paginateScan({ client: dynamodb }, { TableName, ConsistentRead: true });
    for await (const { Items = [] } of pages) {
      for (const item of Items) {
        try {
          records.push(toApiKeyRecord(item));
        } catch {
          reportMalformed(item['keyId']);
        }
      }
    }
    return records.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
  };

  /**
   * Issues a key's successor with the same grants, and ends the key itself after the grace period, unless it
   * ends sooner, in one transaction. Throws for a key that is unknown, no longer in force, or rotated
   * already.
   */
  const rotate = async (
    keyId: string,
    { graceMs, lifetimeMs, again = false }: Rotation,
  ): Promise<RotatedApiKey> => {
    const record = await find(keyId);
    const now = timeOfAws(dynamodb);
    checkRotation(record, now, again);
    const issued = makeKey({
      ...grantsOf(record),
      ...(lifetimeMs !== undefined && { lifetimeMs }),
    });
    const successor = issued.record.keyId;
    const expiresAt = new Date(Math.min(endOf(record), now + graceMs)).toISOString();
    const isAsRead =
      record.successor === undefined ? 'attribute_not_exists(successor)' : 'successor = :former';
    const end = {
      TableName,
      Key: { keyId },
      UpdateExpression: 'SET successor = :successor, expiresAt = :expiresAt',
      ConditionExpression: `attribute_exists(keyId) AND attribute_not_exists(revokedAt) AND ${isAsRead}`,
      ExpressionAttributeValues: {
        ':successor': successor,
        ':expiresAt': expiresAt,
        ...(record.successor !== undefined && { ':former': record.successor }),
      },
    };
    const rotation = new TransactWriteCommand({
      TransactItems: [{ Put: { TableName, Item: issued.record } }, { Update: end }],
    });
    try {
      await dynamodb.send(rotation);
    } catch (error) {
      if (isCancelledBy('TransactionConflict', error))
        throw new Error(
          `Key ${keyId} was being changed by another call: run the same command again`,
          { cause: error },
        );
      if (!isCancelledBy('ConditionalCheckFailed', error)) throw error;
      const changed = await find(keyId);
      // Otherwise this rotation itself was carried out before, and its response was lost.
      if (changed.successor !== successor) {
        checkRotation(changed, now, false);
        throw error;
      }
    }
    return { ...issued, previous: { keyId, expiresAt } };
  };

  /**
   * Ends a key now, or leaves the time at which it was revoked before, and returns its record. Functions that
   * remember the key refuse it after about 60 s. Their next read is eventually consistent and may miss a
   * write of the last second (DynamoDB developer guide, "DynamoDB read consistency"). Throws for an unknown
   * key.
   */
  const revoke = async (keyId: string): Promise<ApiKeyRecord> => {
    const update = new UpdateCommand({
      TableName,
      Key: { keyId },
      UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
      ConditionExpression: 'attribute_exists(keyId)',
      ExpressionAttributeValues: { ':now': new Date(timeOfAws(dynamodb)).toISOString() },
      ReturnValues: 'ALL_NEW',
    });
    try {
      const { Attributes = {} } = await dynamodb.send(update);
      return toApiKeyRecord(Attributes);
    } catch (error) {
      throw error instanceof ConditionalCheckFailedException ? unknownKey(keyId) : error;
    }
  };

  return { issue, find, list, rotate, revoke };
};

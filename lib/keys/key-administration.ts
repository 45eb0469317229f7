import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  type ApiKeyPrefix,
  type ApiKeyRecord,
  generateApiKey,
  identifyApiKey,
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

const unknownKey = (keyId: string) => new Error(`There is no key ${keyId}`);

/** Returns the functions with which operators issue, list, rotate and revoke the API keys of one prefix. */
export const keyAdministration = (
  dynamodb: DynamoDBDocumentClient,
  TableName: string,
  prefix: ApiKeyPrefix,
) => {
  /** Issues a key with these grants. Throws for an `apiKey` of another prefix. */
  const issue = async (
    { lifetimeMs, ...others }: Grants,
    apiKey = generateApiKey(prefix),
  ): Promise<IssuedApiKey> => {
    const identity = identifyApiKey(apiKey, prefix);
    if (!identity) throw new Error(`The API key is not one that starts with ${prefix}`);
    const now = Date.now();
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
    await dynamodb.send(new PutCommand({ TableName, Item: record }));
    return { apiKey, record };
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

  const set = async (
    keyId: string,
    attribute: 'expiresAt' | 'revokedAt' | 'successor',
    value: string,
  ) => {
    const update = new UpdateCommand({
      TableName,
      Key: { keyId },
      UpdateExpression: 'SET #attribute = :value',
      ConditionExpression: 'attribute_exists(keyId)',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':value': value },
    });
    await dynamodb.send(update).catch((error: unknown) => {
      throw error instanceof ConditionalCheckFailedException ? unknownKey(keyId) : error;
    });
  };

  /**
   * Issues a key's successor with the same grants, and ends the key itself after the grace period, unless it ends
   * sooner. Throws for a key that is unknown, no longer in force, or rotated already.
   */
  const rotate = async (
    keyId: string,
    { graceMs, lifetimeMs, again = false }: Rotation,
  ): Promise<RotatedApiKey> => {
    const record = await find(keyId);
    const now = Date.now();
    if (record.revokedAt !== undefined || !(endOf(record) > now)) {
      throw new Error(`Key ${keyId} is no longer in force: issue a new one instead`);
    }
    if (record.successor !== undefined && !again) {
      throw new Error(
        `Key ${keyId} was rotated already, to ${record.successor}: revoke that key if it was lost, and add --again`,
      );
    }
    const issued = await issue({
      ...grantsOf(record),
      ...(lifetimeMs !== undefined && { lifetimeMs }),
    });
    const expiresAt = new Date(Math.min(endOf(record), now + graceMs)).toISOString();
    await set(keyId, 'successor', issued.record.keyId);
    await set(keyId, 'expiresAt', expiresAt);
    return { ...issued, previous: { keyId, expiresAt } };
  };

  /**
   * Ends a key now, or leaves the time at which it was revoked before. Functions that remember the key refuse
   * it after about 60 s. Their next read is eventually consistent and may miss a write of the last second
   * (DynamoDB developer guide, "DynamoDB read consistency"). Throws for an unknown key.
   */
  const revoke = async (keyId: string): Promise<void> => {
    const { revokedAt = new Date().toISOString() } = await find(keyId);
    await set(keyId, 'revokedAt', revokedAt);
  };

  return { issue, find, list, rotate, revoke };
};

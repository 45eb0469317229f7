import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type ApiKeyPrefix, generateApiKey, identifyApiKey } from './api-key.ts';
import { type ApiKeyRecord, toApiKeyRecord } from './api-key-record.ts';

/** A newly issued API key. Only its hash is stored, so this is the only copy of the whole key. */
export interface IssuedApiKey {
  readonly apiKey: string;
  readonly record: ApiKeyRecord;
}

const forever = Number.POSITIVE_INFINITY;

const unknownKey = (keyId: string) => new Error(`There is no key ${keyId}`);

/** What operators do with a keys table: issue, list, rotate and revoke API keys of one prefix. */
export const keyAdministration = (
  dynamodb: DynamoDBDocumentClient,
  TableName: string,
  prefix: ApiKeyPrefix,
) => {
  /** Issues a key to an owner, with a lifetime in ms. Throws for an `apiKey` of another prefix. */
  const issue = async (
    owner: string,
    lifetimeMs = forever,
    apiKey = generateApiKey(prefix),
  ): Promise<IssuedApiKey> => {
    const identity = identifyApiKey(apiKey, prefix);
    if (!identity) throw new Error(`The API key is not one that starts with ${prefix}`);
    const now = Date.now();
    const record = {
      ...identity,
      owner,
      lastFour: apiKey.slice(-4),
      createdAt: new Date(now).toISOString(),
      ...(lifetimeMs !== forever && { expiresAt: new Date(now + lifetimeMs).toISOString() }),
    };
    await dynamodb.send(new PutCommand({ TableName, Item: record }));
    return { apiKey, record };
  };

  /** The record of a key. Throws for an unknown one. */
  const find = async (keyId: string): Promise<ApiKeyRecord> => {
    const get = new GetCommand({ TableName, Key: { keyId }, ConsistentRead: true });
    const { Item } = await dynamodb.send(get);
    if (!Item) throw unknownKey(keyId);
    return toApiKeyRecord(Item);
  };

  /** Every key, the oldest first. Leaves out malformed items, and reports the `keyId` of each. */
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

  const set = async (keyId: string, attribute: 'expiresAt' | 'revokedAt', time: number) => {
    const update = new UpdateCommand({
      TableName,
      Key: { keyId },
      UpdateExpression: 'SET #attribute = :time',
      ConditionExpression: 'attribute_exists(keyId)',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':time': new Date(time).toISOString() },
    });
    await dynamodb.send(update).catch((error: unknown) => {
      throw error instanceof ConditionalCheckFailedException ? unknownKey(keyId) : error;
    });
  };

  /**
   * Issues a key's successor to its owner, and ends the key itself after `graceMs`, unless it ends sooner. By default the
   * successor has the lifetime of the key, which an earlier rotation may have shortened.
   * Throws for a key that is unknown or no longer in force.
   */
  const rotate = async (keyId: string, graceMs: number, lifetimeMs?: number) => {
    const { owner, createdAt, expiresAt, revokedAt } = await find(keyId);
    const end = expiresAt === undefined ? forever : Date.parse(expiresAt);
    if (revokedAt !== undefined || !(end > Date.now())) {
      throw new Error(`Key ${keyId} is no longer in force: issue a new one instead`);
    }
    const successor = await issue(owner, lifetimeMs ?? end - Date.parse(createdAt));
    const endOfGrace = Date.now() + graceMs;
    if (endOfGrace < end) await set(keyId, 'expiresAt', endOfGrace);
    return successor;
  };

  /**
   * Ends a key now. Functions that remember it refuse it after about 60 s: their next read is eventually consistent, and may
   * miss a write of the last second (DynamoDB developer guide, "DynamoDB read consistency"). Throws for an unknown key.
   */
  const revoke = (keyId: string): Promise<void> => set(keyId, 'revokedAt', Date.now());

  return { issue, find, list, rotate, revoke };
};

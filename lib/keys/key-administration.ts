import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type ApiKeyPrefix, generateApiKey, identifyApiKey } from '../contract/api-key.ts';
import { type ApiKeyRecord, toApiKeyRecord } from './api-key-record.ts';

/** A new API key: the only moment at which it is known whole. */
export interface IssuedApiKey {
  readonly apiKey: string;
  readonly record: ApiKeyRecord;
}

const forever = Number.POSITIVE_INFINITY;

/** What operators do with a keys table: issue, list, rotate and revoke API keys. */
export class KeyAdministration {
  readonly #dynamodb: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(dynamodb: DynamoDBDocumentClient, tableName: string) {
    this.#dynamodb = dynamodb;
    this.#tableName = tableName;
  }

  /** Issues a key to an owner, with a lifetime in ms. Throws for an `apiKey` that does not start with the prefix. */
  async issue(
    prefix: ApiKeyPrefix,
    owner: string,
    lifetimeMs = forever,
    apiKey = generateApiKey(prefix),
  ): Promise<IssuedApiKey> {
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
    await this.#dynamodb.send(new PutCommand({ TableName: this.#tableName, Item: record }));
    return { apiKey, record };
  }

  /** The record of a key. Throws for an unknown one. */
  async find(keyId: string): Promise<ApiKeyRecord> {
    const { Item } = await this.#dynamodb.send(
      new GetCommand({ TableName: this.#tableName, Key: { keyId }, ConsistentRead: true }),
    );
    if (!Item) throw unknownKey(keyId);
    return toApiKeyRecord(Item);
  }

  /** Every key, the oldest first. */
  async list(): Promise<ApiKeyRecord[]> {
    const scan = { TableName: this.#tableName, ConsistentRead: true };
    const pages = await Array.fromAsync(paginateScan({ client: this.#dynamodb }, scan));
    return pages
      .flatMap(({ Items = [] }) => Items.map(toApiKeyRecord))
      .sort((left, right) => left.createdAt.localeCompare(right.createdAt));
  }

  /**
   * Issues a successor to a key's owner, and ends the key itself after a time of grace, in ms, unless it ends sooner. The
   * successor has the lifetime of the key, which an earlier rotation may have shortened, unless `lifetimeMs` is given.
   * Throws for a key that is unknown or no longer in force.
   */
  async rotate(prefix: ApiKeyPrefix, keyId: string, graceMs: number, lifetimeMs?: number) {
    const { owner, createdAt, expiresAt, revokedAt } = await this.find(keyId);
    const end = expiresAt === undefined ? forever : Date.parse(expiresAt);
    if (revokedAt !== undefined || !(end > Date.now())) {
      throw new Error(`Key ${keyId} is no longer in force: issue a new one instead`);
    }
    const successor = await this.issue(prefix, owner, lifetimeMs ?? end - Date.parse(createdAt));
    const endOfGrace = Date.now() + graceMs;
    if (endOfGrace < end) await this.#set(keyId, 'expiresAt', endOfGrace);
    return successor;
  }

  /**
   * Ends a key now. Functions that remember it refuse it after about 60 s: their next read is eventually consistent, and may
   * miss a write of the last second (DynamoDB developer guide, "DynamoDB read consistency"). Throws for an unknown key.
   */
  async revoke(keyId: string): Promise<void> {
    await this.#set(keyId, 'revokedAt', Date.now());
  }

  async #set(keyId: string, attribute: 'expiresAt' | 'revokedAt', time: number): Promise<void> {
    const update = new UpdateCommand({
      TableName: this.#tableName,
      Key: { keyId },
      UpdateExpression: 'SET #attribute = :time',
      ConditionExpression: 'attribute_exists(keyId)',
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':time': new Date(time).toISOString() },
    });
    await this.#dynamodb.send(update).catch((error: unknown) => {
      throw error instanceof ConditionalCheckFailedException ? unknownKey(keyId) : error;
    });
  }
}

const unknownKey = (keyId: string) => new Error(`There is no key ${keyId}`);

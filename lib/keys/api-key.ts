import { hash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { Sha256 } from '../aws/sha256.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';

/**
 * The prefix of API keys: `pets_live` in production, and `pets_test` elsewhere. People and secret scanners
 * can tell by it which stage accepts a key.
 */
export type ApiKeyPrefix = 'pets_live' | 'pets_test';

const checksumLength = 8;
const shape = /^(?<prefix>pets_live|pets_test)_(?<keyId>[0-9a-f]{16})_[0-9a-f]{72}$/;

const checksumOf = (text: string) => hash('sha256', text).slice(0, checksumLength);

/** Generates an API key, `<prefix>_<keyId>_<secret><checksum>`. The secret has 256 random bits. */
export const generateApiKey = (prefix: ApiKeyPrefix): string => {
  const unchecked = `${prefix}_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('hex')}`;
  return unchecked + checksumOf(unchecked);
};

/**
 * Returns the id and the hash of an API key, which may be stored, unlike its secret. Returns `undefined` for
 * a mistyped key, a key of another prefix, and any other text.
 */
export const identifyApiKey = (
  apiKey: string,
  prefix: string,
): Pick<ApiKeyRecord, 'keyId' | 'hash'> | undefined => {
  const { prefix: given, keyId } = shape.exec(apiKey)?.groups ?? {};
  if (given !== prefix || keyId === undefined) return undefined;
  const isMistyped = checksumOf(apiKey.slice(0, -checksumLength)) !== apiKey.slice(-checksumLength);
  if (isMistyped) return undefined;
  // Decoding the digits takes less time than the form in which `hash` returns bytes.
  return { keyId, hash: Buffer.from(hash('sha256', apiKey), 'hex') };
};

/** The schema of an item of the keys table. */
export const ApiKeyRecord = v.object({
  /** The public id of the key, 16 hexadecimal digits. */
  keyId: v.string(),
  /** The SHA-256 hash of the whole key. */
  hash: Sha256,
  /** The holder of the key. Idempotency keys are scoped to the owner. */
  owner: v.string(),
  /**
   * The last four characters of the key, which are part of its checksum. The owner
   * recognises the key by them.
   */
  lastFour: v.string(),
  createdAt: v.string(),
  /**
   * The lifetime with which the key was issued, in ms; absent if it is unlimited. A rotation
   * shortens only `expiresAt`.
   */
  lifetimeMs: v.optional(v.number()),
  expiresAt: v.optional(v.string()),
  revokedAt: v.optional(v.string()),
  /** The id of the key that the latest rotation issued in place of this one. */
  successor: v.optional(v.string()),
});

/** The item that the keys table stores for an API key. Times are ISO 8601 in UTC. */
export type ApiKeyRecord = Readonly<v.InferOutput<typeof ApiKeyRecord>>;

/** Checks a stored item and returns it as the record of an API key. Throws for any other item. */
export const toApiKeyRecord = (item: Readonly<Record<string, unknown>>): ApiKeyRecord => {
  const { success, output } = v.safeParse(ApiKeyRecord, item);
  // Valibot's own error would repeat the item.
  if (!success) throw new LoggableError('The item of this API key is malformed');
  return output;
};

/**
 * Tells whether a key is valid at a time in ms, by default now. An expiry that can't be read counts as past,
 * so its key is refused. A revocation counts even if its time is in the future, because a clock may be fast.
 */
export const isInForce = ({ expiresAt, revokedAt }: ApiKeyRecord, time = Date.now()): boolean =>
  revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > time);

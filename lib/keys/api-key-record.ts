import * as v from 'valibot';
import { Sha256 } from '../aws/sha256.ts';

const ApiKeyRecord = v.object({
  /** The public id of the key, 16 hexadecimal digits. */
  keyId: v.string(),
  /** The hash of the whole key. */
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
  if (!success) throw new Error(`The item of key ${item['keyId']} is malformed`);
  return output;
};

import * as z from 'zod/mini';

/** What the keys table holds of an API key. Times are ISO 8601 in UTC. */
const ApiKeyRecord = z.object({
  keyId: z.string(),
  /** SHA-256 of the whole key, 32 bytes. */
  hash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  /** Whom the key was issued to; idempotency keys are scoped to it. */
  owner: z.string(),
  /** The last characters of the key, by which its owner recognises it: they belong to the checksum. */
  lastFour: z.string(),
  createdAt: z.string(),
  expiresAt: z.exactOptional(z.string()),
  revokedAt: z.exactOptional(z.string()),
});
export type ApiKeyRecord = Readonly<z.output<typeof ApiKeyRecord>>;

/** The checked boundary from a stored item to an API key's record. Throws for an item that is none. */
export const toApiKeyRecord = (item: Record<string, unknown>): ApiKeyRecord => {
  const { data: record } = ApiKeyRecord.safeParse(item);
  if (!record) throw new Error('A stored API key is malformed');
  return record;
};

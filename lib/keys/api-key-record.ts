/** What the keys table holds of an API key. Times are ISO 8601 in UTC. */
export interface ApiKeyRecord {
  readonly keyId: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Uint8Array;
  /** Whom the key was issued to; idempotency keys are scoped to it. */
  readonly owner: string;
  /** The last characters of the key, by which its owner recognises it: they belong to the checksum. */
  readonly lastFour: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
}

const isOptionalText = (value: unknown) => value === undefined || typeof value === 'string';

const isApiKeyRecord = (
  item: Record<string, unknown>,
): item is Record<string, unknown> & ApiKeyRecord =>
  typeof item['keyId'] === 'string' &&
  item['hash'] instanceof Uint8Array &&
  item['hash'].length === 32 &&
  typeof item['owner'] === 'string' &&
  typeof item['lastFour'] === 'string' &&
  typeof item['createdAt'] === 'string' &&
  isOptionalText(item['expiresAt']) &&
  isOptionalText(item['revokedAt']);

/** The checked boundary from a stored item to an API key's record. Throws for an item that is none. */
export const toApiKeyRecord = (item: Record<string, unknown>): ApiKeyRecord => {
  if (!isApiKeyRecord(item)) throw new Error('A stored API key is malformed');
  return item;
};

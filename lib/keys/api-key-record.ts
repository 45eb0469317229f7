import type { ApiKeyIdentity } from './api-key.ts';

/** What the keys table holds of an API key. Times are ISO 8601 in UTC. */
export interface ApiKeyRecord extends ApiKeyIdentity {
  /** The holder of the key; idempotency keys are scoped to it. */
  readonly owner: string;
  /** The last four characters of the key, part of its checksum. Its owner recognises the key by them. */
  readonly lastFour: string;
  readonly createdAt: string;
  /** The lifetime with which the key was issued, in ms; absent for an unlimited one. A rotation shortens only `expiresAt`. */
  readonly lifetimeMs?: number | undefined;
  readonly expiresAt?: string | undefined;
  readonly revokedAt?: string | undefined;
  /** The id of the key that the latest rotation issued in place of this one. */
  readonly successor?: string | undefined;
}

/** Checks a stored item and returns it as the record of an API key. Throws for any other item. */
export const toApiKeyRecord = (item: Record<string, unknown>): ApiKeyRecord => {
  const { keyId, hash, owner, lastFour, createdAt, lifetimeMs, expiresAt, revokedAt, successor } =
    item;
  if (
    typeof keyId !== 'string' ||
    !(hash instanceof Uint8Array && hash.length === 32) ||
    typeof owner !== 'string' ||
    typeof lastFour !== 'string' ||
    typeof createdAt !== 'string' ||
    !(lifetimeMs === undefined || typeof lifetimeMs === 'number') ||
    !isOptionalText(expiresAt) ||
    !isOptionalText(revokedAt) ||
    !isOptionalText(successor)
  ) {
    throw new Error('A stored API key is malformed');
  }
  return { keyId, hash, owner, lastFour, createdAt, lifetimeMs, expiresAt, revokedAt, successor };
};

const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

import { hash, randomBytes } from 'node:crypto';

/**
 * `pets_live` for production, `pets_test` elsewhere. It shows people and secret scanners
 * which stage accepts a key.
 */
export type ApiKeyPrefix = 'pets_live' | 'pets_test';

/** What may be stored of an API key: its id and its hash, never the secret. */
export interface ApiKeyIdentity {
  /** 16 hexadecimal digits, public. */
  readonly keyId: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Uint8Array;
}

const checksumLength = 8;
const shape = /^(?<prefix>pets_live|pets_test)_(?<keyId>[0-9a-f]{16})_[0-9a-f]{72}$/;

const checksumOf = (text: string) => hash('sha256', text).slice(0, checksumLength);

/** Generates an API key, `<prefix>_<keyId>_<secret><checksum>`. The secret has 256 random bits. */
export const generateApiKey = (prefix: ApiKeyPrefix): string => {
  const unchecked = `${prefix}_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('hex')}`;
  return unchecked + checksumOf(unchecked);
};

/**
 * The id of a key in the format of this prefix; `undefined` for any other text. Does not verify the checksum.
 */
export const keyIdOf = (apiKey: string, prefix: string): string | undefined => {
  const parts = shape.exec(apiKey)?.groups;
  return parts?.['prefix'] === prefix ? parts['keyId'] : undefined;
};

/** Whether the checksum of a key is right. A mistyped key has a wrong checksum. */
export const isIntact = (apiKey: string): boolean =>
  checksumOf(apiKey.slice(0, -checksumLength)) === apiKey.slice(-checksumLength);

/** SHA-256 of the whole key, 32 bytes. */
export const hashOf = (apiKey: string): Uint8Array => hash('sha256', apiKey, 'buffer');

/**
 * Returns the id and the hash of an API key. Returns `undefined` for a mistyped key, another
 * prefix or any other text.
 */
export const identifyApiKey = (apiKey: string, prefix: string): ApiKeyIdentity | undefined => {
  const keyId = keyIdOf(apiKey, prefix);
  return keyId && isIntact(apiKey) ? { keyId, hash: hashOf(apiKey) } : undefined;
};

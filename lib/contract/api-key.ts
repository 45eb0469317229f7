import { hash, randomBytes } from 'node:crypto';

/** `pets_live` for production, `pets_test` elsewhere: tells a reader, and a secret scanner, what a key opens. */
export type ApiKeyPrefix = 'pets_live' | 'pets_test';

/** The parts of an API key that may be kept: the secret is not among them. */
export interface ApiKeyIdentity {
  /** 16 hexadecimal digits, public. */
  readonly keyId: string;
  /** SHA-256 of the whole key, 32 bytes. */
  readonly hash: Uint8Array;
}

const checksumLength = 8;
const shape = /^(?<prefix>pets_live|pets_test)_(?<keyId>[0-9a-f]{16})_[0-9a-f]{72}$/;

const checksumOf = (text: string) => hash('sha256', text).slice(0, checksumLength);

/** A new API key, `<prefix>_<keyId>_<secret><checksum>`, its secret 256 random bits. */
export const generateApiKey = (prefix: ApiKeyPrefix): string => {
  const unchecked = `${prefix}_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('hex')}`;
  return unchecked + checksumOf(unchecked);
};

/** The id of a key in the format of this prefix; `undefined` for any other text. Doesn't check the checksum. */
export const keyIdOf = (apiKey: string, prefix: string): string | undefined => {
  const parts = shape.exec(apiKey)?.groups;
  return parts?.['prefix'] === prefix ? parts['keyId'] : undefined;
};

/** Whether a key has the right checksum, which a mistyped one has not. */
export const isIntact = (apiKey: string): boolean =>
  checksumOf(apiKey.slice(0, -checksumLength)) === apiKey.slice(-checksumLength);

/** SHA-256 of the whole key, 32 bytes. */
export const hashOf = (apiKey: string): Uint8Array => hash('sha256', apiKey, 'buffer');

/** What a well-formed key of this prefix identifies; `undefined` for any other text, a mistyped key included. */
export const identifyApiKey = (apiKey: string, prefix: string): ApiKeyIdentity | undefined => {
  const keyId = keyIdOf(apiKey, prefix);
  return keyId && isIntact(apiKey) ? { keyId, hash: hashOf(apiKey) } : undefined;
};

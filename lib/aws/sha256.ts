import * as v from 'valibot';

/** The schema of a SHA-256 hash as DynamoDB stores it, 32 bytes. */
export const Sha256 = v.custom<Uint8Array>(
  (value) => value instanceof Uint8Array && value.length === 32,
);

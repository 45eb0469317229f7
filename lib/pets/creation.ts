import { createHash, randomBytes } from 'node:crypto';
import { stringifyJson } from '../contract/exact-json.ts';
import type { NewPet } from '../contract/requests.ts';

/** What makes two requests the same creation: one key of one owner. Without a key each request is a creation of its own. */
export interface IdempotencyScope {
  readonly owner: string;
  readonly key: string | undefined;
}

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The identity of a creation, 32 bytes: derived from owner and key, or random without a key. */
export const creationOf = ({ owner, key }: IdempotencyScope): Buffer =>
  key === undefined ? randomBytes(32) : sha256(JSON.stringify([owner, key]));

/** The id that a creation tries at its n-th attempt: 1 to 2^53-1, evenly spread, the same at every replay. */
export const candidateId = (creation: Uint8Array, attempt: number): number =>
  Number(sha256(creation, `${attempt}`).readBigUInt64BE() >> 11n) || 1;

/** Tells a replay from another request under the same key, 32 bytes. */
export const fingerprintOf = ({ name, categoryId, status }: NewPet): Buffer =>
  sha256(stringifyJson([name, categoryId, status]));

import { createHash, randomBytes } from 'node:crypto';
import { stringifyJson } from '../contract/exact-json.ts';

/**
 * The scope within which two requests are the same creation: one key of one owner. Without a key, each
 * request is a creation of its own.
 */
export interface IdempotencyScope {
  readonly owner: string;
  readonly key: string | undefined;
}

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * Returns the identity of a creation, 32 bytes. It is derived from owner and key, or random without a key.
 */
export const creationOf = ({ owner, key }: IdempotencyScope): Buffer =>
  key === undefined ? randomBytes(32) : sha256(JSON.stringify([owner, key]));

/**
 * Returns the n-th candidate for the id of a creation: from 1 to 2^53-1, evenly distributed, and
 * the same at every replay.
 */
export const candidateId = (creation: Uint8Array, candidate: number): number =>
  Number(sha256(creation, `${candidate}`).readBigUInt64BE() >> 11n) || 1;

/**
 * Returns a fingerprint of a body, 32 bytes, by which a replay is told from another request under the same
 * key. An absent field does not change it, so a version that knows more fields recognises the requests of an
 * earlier version. The order of the fields does not change it either.
 */
export const fingerprintOf = (body: Readonly<Record<string, unknown>>): Buffer => {
  const fields = Object.entries(body).sort();
  return sha256(stringifyJson(Object.fromEntries(fields)));
};

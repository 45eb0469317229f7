import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { errors } from '../contract/errors.ts';
import { type Pet, PetStatus } from '../contract/pet.ts';

/** The position at which a page ended: the last pet, or id 0 for the start of a status. */
export type Position = Pick<Pet, 'id' | 'status'>;

const checksumBytes = 6;
const idBytes = 8;

/**
 * Returns an opaque base64url cursor, which is bound to the list's filter. It contains the text of the status
 * instead of its place among the statuses, so it stays valid when a status is added.
 */
export const encodeCursor = (position: Position, filter: PetStatus | undefined): string => {
  const id = Buffer.alloc(idBytes);
  id.writeBigUInt64BE(BigInt(position.id));
  const parts = [checksumOf(position, filter), id, Buffer.from(position.status)];
  return Buffer.concat(parts).toString('base64url');
};

/**
 * Decodes a cursor of the same filter. The checksum detects changes, but not a forgery. Throws
 * `invalid_request` for any other text, and for a status that only a newer version knows.
 */
export const decodeCursor = (cursor: string, filter: PetStatus | undefined): Position => {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length > checksumBytes + idBytes) {
    const id = Number(bytes.readBigUInt64BE(checksumBytes));
    const status = bytes.toString('utf8', checksumBytes + idBytes);
    const isKnown = v.is(PetStatus, status) && Number.isSafeInteger(id);
    if (isKnown && encodeCursor({ id, status }, filter) === cursor) return { id, status };
  }
  throw errors.invalidRequest('cursor is not one that this list has given.');
};

const checksumOf = ({ id, status }: Position, filter: PetStatus | undefined): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([id, status, filter]))
    .digest()
    .subarray(0, checksumBytes);

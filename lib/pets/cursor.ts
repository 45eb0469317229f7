import { createHash } from 'node:crypto';
import { type Pet, type PetStatus, petStatuses } from '../contract/bodies.ts';
import { errors } from '../contract/errors.ts';

/** Where a page ended: the last pet, or id 0 for the start of a status. */
export type Position = Pick<Pet, 'id' | 'status'>;

const positionBytes = 9;
const checksumBytes = 6;

/** An opaque base64url cursor of 20 characters, bound to the list's filter. */
export const encodeCursor = (position: Position, filter: PetStatus | undefined): string => {
  const bytes = Buffer.alloc(positionBytes);
  bytes.writeUInt8(petStatuses.indexOf(position.status));
  bytes.writeBigUInt64BE(BigInt(position.id), 1);
  return Buffer.concat([bytes, checksumOf(bytes, filter)]).toString('base64url');
};

/** Reads what `encodeCursor` wrote for the same filter; the checksum catches accidents, not intent. Throws `invalid_request`. */
export const decodeCursor = (cursor: string, filter: PetStatus | undefined): Position => {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length === positionBytes + checksumBytes) {
    const status = petStatuses[bytes.readUInt8()];
    const id = Number(bytes.readBigUInt64BE(1));
    if (status && Number.isSafeInteger(id) && encodeCursor({ id, status }, filter) === cursor) {
      return { id, status };
    }
  }
  throw errors.invalidRequest('cursor is not one that this list has given.');
};

const checksumOf = (position: Buffer, filter = 'any status'): Buffer =>
  createHash('sha256').update(position).update(filter).digest().subarray(0, checksumBytes);

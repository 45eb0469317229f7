import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { errors } from '../contract/errors.ts';
import { stringifyJson } from '../contract/exact-json.ts';
import type { ListPetsQuery } from '../contract/list-pets-query.ts';
import { PetStatus } from '../contract/pet.ts';

/** What selects the pets of a list. */
export type Filter = Omit<ListPetsQuery, 'limit' | 'cursor'>;

/** A position in a list: after the item with this id, in DynamoDB's digits, or at the start of a status. */
export interface Position {
  readonly status: PetStatus;
  readonly id?: string | undefined;
}

const checksumBytes = 6;

/**
 * Returns an opaque base64url cursor, which is bound to the list's filter. It contains the text of the status
 * instead of its place among the statuses, so it stays valid when a status is added.
 */
export const encodeCursor = ({ status, id }: Position, filter: Filter): string => {
  const text = id === undefined ? status : `${status} ${id}`;
  return Buffer.concat([checksumOf(text, filter), Buffer.from(text)]).toString('base64url');
};

/**
 * Decodes a cursor of the same filter. The checksum detects changes, but not a forgery. Throws
 * `invalid_request` for any other text, and for a status that only a newer version knows.
 */
export const decodeCursor = (cursor: string, filter: Filter): Position => {
  const text = Buffer.from(cursor, 'base64url').toString('utf8', checksumBytes);
  const [status, id] = text.split(' ');
  const position = v.is(PetStatus, status) ? { status, id } : undefined;
  if (!position || encodeCursor(position, filter) !== cursor) throw unknownCursor();
  return position;
};

/** Creates the error for a cursor that is not of this list. */
export const unknownCursor = () =>
  errors.invalidRequest(
    'cursor is not one that this list has given. Copy it unchanged, and send the same filters, such as status.',
  );

const checksumOf = (text: string, filter: Filter): Buffer =>
  createHash('sha256')
    .update(stringifyJson([text, filter]))
    .digest()
    .subarray(0, checksumBytes);

import { type Int64, isInt64 } from '../contract/exact-json.ts';
import { fieldsOf } from '../contract/is-record.ts';

/*
 * The types of `lib/contract`, under the names that users of the API know. They are declared again, because
 * the declarations of the contract need valibot, and the package has no dependency. A test compares them.
 */

/** The availability of the animal. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** The body that a client sends to add an animal. */
export interface NewPet {
  /** The name, which is not blank. The guide "Limits" has its length. */
  readonly name: string;
  readonly categoryId: Int64;
  /** The status. The default is `available`. */
  readonly status?: PetStatus | undefined;
}

/** A pet as the service returns it. It can have fields that this version of the client does not know. */
export interface Pet extends Omit<NewPet, 'status'> {
  /** The id, from 1 to 2^53-1, so that every JSON parser reads it exactly. */
  readonly id: number;
  /** The status of the pet. It can be one that this version of the client does not know. */
  readonly status: PetStatus | (string & Record<never, never>);
}

/** Tells whether a body has the fields that every pet has. An optional field is trusted. */
export const isPet = (body: unknown): body is Pet => {
  const { id, name, categoryId, status } = fieldsOf(body);
  return (
    typeof id === 'number' &&
    Number.isSafeInteger(id) &&
    id > 0 &&
    typeof name === 'string' &&
    isInt64(categoryId) &&
    typeof status === 'string'
  );
};

/** The body of every error response. */
export interface ErrorBody {
  /** The code that identifies the error. New codes may be added. */
  readonly code: string;
  /** A text for people, which may change. */
  readonly message: string;
  /** The HTTP status code of the response that carries this body. */
  readonly status: number;
}

/** Tells whether a body is that of an error response. */
export const isErrorBody = (body: unknown): body is ErrorBody => {
  const { code, message, status } = fieldsOf(body);
  return typeof code === 'string' && typeof message === 'string' && typeof status === 'number';
};

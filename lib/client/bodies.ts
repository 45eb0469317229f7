import { type Int64, isInt64 } from '../contract/int64.ts';

/** The availability of the animal. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** The body that a client sends to add an animal. */
export interface NewPet {
  /** The name, 1 to 255 code points and not blank. */
  readonly name: string;
  readonly categoryId: Int64;
  /** The status. The default is `available`. */
  readonly status?: PetStatus | undefined;
}

/** An animal of the catalogue. */
export interface Pet {
  /** The id, from 1 to 2^53-1, so that every JSON parser reads it exactly. */
  readonly id: number;
  readonly name: string;
  readonly categoryId: Int64;
  readonly status: PetStatus;
}

/** Tells whether a body has the fields of a pet. Its status can be one that `PetStatus` lacks. */
export const isPet = (body: unknown): body is Omit<Pet, 'status'> & { readonly status: string } => {
  const { id, name, categoryId, status } = Object(body);
  return (
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

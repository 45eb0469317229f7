import type { Int64 } from '../contract/int64.ts';

/** Availability of the animal. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** What a client sends to add an animal. */
export interface NewPet {
  /** 1 to 255 code points, not blank. */
  readonly name: string;
  readonly categoryId: Int64;
  /** `available` by default. */
  readonly status?: PetStatus | undefined;
}

/** An animal of the catalogue. */
export interface Pet {
  /** 1 to 2^53-1, so that every JSON parser reads it exactly. */
  readonly id: number;
  readonly name: string;
  readonly categoryId: Int64;
  readonly status: PetStatus;
}

/** The body of every error response. */
export interface ErrorBody {
  /** Identifies the error. New codes may be added. */
  readonly code: string;
  /** Text for people, which may change. */
  readonly message: string;
  /** The HTTP status code of the response that carries this body. */
  readonly status: number;
}

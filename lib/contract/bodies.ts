/** A 64-bit signed integer: a `number` where that is exact, else a `bigint`. */
export type Int64 = number | bigint;

/** Every status, in the order in which lists return them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** Availability of the animal. */
export type PetStatus = (typeof petStatuses)[number];

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

import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { ApiError } from '../contract/errors.ts';
import { Pet } from '../contract/pet.ts';
import type { ExampleRequest } from './operation-details.ts';

/** The response that a check request must get. */
export interface CheckResponse {
  readonly status: number;
  /** Headers that the response must have. It may have others. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tells whether a body is right, which is `undefined` if there is none. */
  readonly hasBody: (body: unknown) => boolean;
}

/**
 * What the check before traffic sends to an operation besides an API key. It must change nothing but add the
 * check's one pet, because the deployment of each function sends all check requests, and they run at the same
 * time. It is not the example of the contract, because clients must not be offered the pet.
 */
export interface CheckRequest extends ExampleRequest {
  /** How often it is sent until the response is right; once unless told otherwise. */
  readonly attempts?: number;
  readonly response: CheckResponse;
}

const OnlyPet = v.strictObject(Pet.entries);

/** Tells whether a value is a pet that has no other fields. */
export const isPet = (value: unknown): value is Pet => v.is(OnlyPet, value);

/** Returns the response that an error becomes, with its own status, headers and body. */
export const errorResponse = ({ status, headers, body }: ApiError): CheckResponse => ({
  status,
  headers,
  hasBody: (given) => isDeepStrictEqual(given, body),
});

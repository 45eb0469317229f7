import { exactJson, stringifyJson } from '../contract/exact-json.ts';
import { idempotencyKeyPattern, maxIdempotencyKeyLength } from '../contract/limits.ts';
import type { OperationName } from '../contract/routes.ts';
import { isPet, type NewPet, type Pet, type PetStatus } from './bodies.ts';
import {
  Connection,
  type ConnectionOptions,
  type ServiceRequest,
  type ServiceResponse,
} from './connection.ts';
import {
  AnimalStoreError,
  NetworkError,
  type ResponseDetails,
  TimeoutError,
  unexpectedResponse,
} from './errors.ts';
import { nextPageQuery } from './response-headers.ts';

export type { NewPet, Pet, PetStatus };
export { AnimalStoreError, NetworkError, TimeoutError };
export type AnimalStoreOptions = ConnectionOptions;

/** The query of a list. It filters by status, and sets the start and the maximum length of a page. */
export interface ListPetsQuery {
  readonly status?: PetStatus | undefined;
  /** The maximum number of pets on a page. Its range and its default are on the reference page. */
  readonly limit?: number | undefined;
  /**
   * The `nextCursor` of an earlier page with the same `status`. Without a cursor, the list
   * starts at its first pet.
   */
  readonly cursor?: string | undefined;
}

/** One page of a list. */
export interface PetsPage {
  /** The pets of the page. The page can be empty although there is a next page. */
  readonly pets: readonly Pet[];
  /** The cursor of the next page; `undefined` on the last page. */
  readonly nextCursor: string | undefined;
}

export interface CallOptions {
  /** A signal that aborts the call, with all its attempts and waits. */
  readonly signal?: AbortSignal | undefined;
}

export interface CreatePetOptions extends CallOptions {
  /**
   * The Idempotency-Key, in visible ASCII characters. Calls with the same key and pet add no second one, even
   * from different processes. By default, each call has a random key.
   */
  readonly idempotencyKey?: string | undefined;
}

/**
 * A client of the animal store. It retries a call up to three times after 429, 502, 503, 504, a lost response
 * or a time-out. It waits as long as `Retry-After` says, but at most `maxRetryWaitMs` in a call. If a wait
 * would be longer, the call fails at once. It follows no redirect. Integers beyond ±(2^53 - 1) are `bigint`.
 *
 * A call throws an AnimalStoreError for an error response, and for a response that the service does not send.
 * It throws a NetworkError or a TimeoutError if there is no complete response, a RangeError for an invalid
 * id, category or key, and the signal's `reason` if you abort it.
 */
export class AnimalStore implements Record<OperationName, unknown> {
  readonly #connection: Connection;

  /**
   * Throws a TypeError for an invalid `apiKey` or `baseAddress`, and a RangeError for an invalid duration.
   * Throws an Error on platforms whose JSON can't keep 64-bit integers, such as Node.js 20.
   */
  constructor(options: AnimalStoreOptions) {
    if (!exactJson.rawJSON) {
      throw new Error(
        'AnimalStore needs JSON.rawJSON for 64-bit integers: use Node.js 22, Chrome 114, Firefox 135 or Safari 18.4, or newer.',
      );
    }
    this.#connection = new Connection(options);
  }

  /**
   * Yields every pet that the query selects, in no promised order. A pet that does not change meanwhile comes
   * once. One that was added in the last second can be missing. Fetches a page when the loop reaches the
   * first pet of that page. Throws an AnimalStoreError if a page is its own next page, which it is behind a
   * proxy that drops the query.
   */
  async *listPets(query: ListPetsQuery = {}, options: CallOptions = {}): AsyncGenerator<Pet> {
    let { cursor } = query;
    do {
      const page = await this.listPetsPage({ ...query, cursor }, options);
      yield* page.pets;
      if (page.nextCursor !== undefined && page.nextCursor === cursor) throw endlessList();
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** Returns one page of pets, from one request. A pet added in the last second can be missing. */
  async listPetsPage(query: ListPetsQuery = {}, { signal }: CallOptions = {}): Promise<PetsPage> {
    const parameters = new URLSearchParams();
    // To `Object.entries`, the values of an interface are `any`, and those of an object that is spread not.
    for (const [name, value] of Object.entries({ ...query })) {
      if (value !== undefined) parameters.set(name, `${value}`);
    }
    const path = `pets?${parameters}`;
    const response = await this.#connection.send(
      { method: 'GET', path, successStatus: 200 },
      signal,
    );
    const { body, link, details } = response;
    if (!isPets(body)) throw notWhatWasAsked(response);
    const next = nextPageQuery(link);
    const nextCursor = next?.get('cursor') || undefined;
    if (next && !nextCursor) throw unknownNextPage(details);
    return { pets: body, nextCursor };
  }

  /**
   * Adds a pet and returns it; retries never add a second one. A repeated call with the same `idempotencyKey`
   * returns the pet as it is stored by then. Throws a RangeError if `categoryId` is a `number` but not a safe
   * integer, or for an `idempotencyKey` that the service would refuse.
   */
  async createPet(
    newPet: NewPet,
    { idempotencyKey = randomKey(), signal }: CreatePetOptions = {},
  ): Promise<Pet> {
    const { categoryId } = newPet;
    if (typeof categoryId === 'number' && !Number.isSafeInteger(categoryId)) {
      throw new RangeError('categoryId must be a safe integer; use a bigint beyond ±(2^53 - 1)');
    }
    if (!idempotencyKeyPattern.test(idempotencyKey)) {
      throw new RangeError(
        `idempotencyKey must be 1 to ${maxIdempotencyKeyLength} visible ASCII characters, without spaces`,
      );
    }
    return this.#requestPet(
      {
        method: 'POST',
        path: 'pets',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
        body: stringifyJson(newPet),
        successStatus: 201,
      },
      signal,
    );
  }

  /**
   * Returns the pet with this id. Throws a RangeError for an id that is not a safe integer.
   * @deprecated Will be removed; keep the pet that `createPet` returns, or use `listPets` with a `status`.
   */
  async getPet(id: number, { signal }: CallOptions = {}): Promise<Pet> {
    if (!Number.isSafeInteger(id)) {
      throw new RangeError('id must be a safe integer: a number of at most 2^53 - 1');
    }
    return this.#requestPet({ method: 'GET', path: `pets/${id}`, successStatus: 200 }, signal);
  }

  /** Sends a request whose response is a pet. */
  async #requestPet(request: ServiceRequest, signal: AbortSignal | undefined): Promise<Pet> {
    const response = await this.#connection.send(request, signal);
    const { body } = response;
    if (!isPet(body)) throw notWhatWasAsked(response);
    return body;
  }
}

/** Returns 128 random bits. Web pages have `crypto.randomUUID` only on https and localhost. */
const randomKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

const notWhatWasAsked = ({ details }: ServiceResponse) =>
  unexpectedResponse(
    `The body of the response with HTTP status ${details.status} is not what the animal store sends`,
    details,
  );

const endlessList = () =>
  unexpectedResponse('The list does not end: a page links to itself', { status: 200 });

// Without an error, the list would seem to end, and pets would be missing.
const unknownNextPage = (details: ResponseDetails) =>
  unexpectedResponse('The response links to a next page without its cursor', details);

const isPets = (body: unknown): body is Pet[] =>
  Array.isArray(body) && body.every((each) => isPet(each));

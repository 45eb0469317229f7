import ky, { HTTPError, isNetworkError, isTimeoutError, type KyInstance } from 'ky';
import type { ErrorBody, NewPet, Pet, PetStatus } from '../contract/bodies.ts';
import { parseJson, stringifyJson } from '../contract/exact-json.ts';

export type { ErrorBody, NewPet, Pet, PetStatus };

/** Filters a list by status. Sets the start of a page and its maximum length. */
export interface ListPetsQuery {
  readonly status?: PetStatus | undefined;
  /** Maximum number of pets on a page, 1 to 100; 20 by default. */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page with the same `status`; without a cursor, the list starts at its first pet. */
  readonly cursor?: string | undefined;
}

/** One page of a list. */
export interface PetsPage {
  /** Can be empty although there is a next page. */
  readonly pets: readonly Pet[];
  /** Where the next page starts; `undefined` on the last page. */
  readonly nextCursor: string | undefined;
}

export interface AnimalStoreOptions {
  /** Ends in `/v1`. */
  readonly baseAddress: string;
  readonly apiKey: string;
  /** How long one attempt may take, in ms; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Used instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CreatePetOptions extends CallOptions {
  /** Calls with the same key and pet add it once, even from different processes. By default each call has a random key. */
  readonly idempotencyKey?: string | undefined;
}

/** An error response. Its `code` is `unexpected_response` if the body, even of a 200, is not one that the service sends. */
export class AnimalStoreError extends Error {
  // Node.js prints this name with the error. Minifiers rename classes, so the name is set here.
  static override readonly name = 'AnimalStoreError';
  override readonly name = 'AnimalStoreError';
  readonly code: string;
  /** The HTTP status code. */
  readonly status: number;
  /** Identifies the request when you ask the operator about it. */
  readonly requestId: string | undefined;

  constructor({ code, status, message }: ErrorBody, requestId: string | null) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId ?? undefined;
  }
}

/** No complete response came: DNS, connection or TLS failed on the last attempt. `cause` is the error of `fetch`. */
export class NetworkError extends Error {
  static override readonly name = 'NetworkError';
  override readonly name = 'NetworkError';
}

/** No complete response came within `timeoutMs` on the last attempt. */
export class TimeoutError extends Error {
  static override readonly name = 'TimeoutError';
  override readonly name = 'TimeoutError';
}

/**
 * A client of the animal store. It retries a call up to three times after 429, 502, 503, 504 or a lost response, and waits
 * as long as `Retry-After` says, at most 30 s. Integers beyond ±(2^53 - 1) are `bigint`. A call throws AnimalStoreError for an
 * error response, NetworkError or TimeoutError if there is no complete response, and the signal's `reason` if you abort it.
 */
export class AnimalStore {
  readonly #http: KyInstance;

  /** Throws an Error on platforms whose JSON cannot keep 64-bit integers, such as Node.js 20. */
  constructor({ baseAddress, apiKey, timeoutMs = 10_000, fetch }: AnimalStoreOptions) {
    if (!('rawJSON' in JSON)) {
      throw new Error(
        'AnimalStore needs JSON.rawJSON for 64-bit integers: use Node.js 22, Chrome 114, Firefox 135 or Safari 18.4, or newer.',
      );
    }
    this.#http = ky.create({
      baseUrl: baseAddress.replace(/\/*$/, '/'),
      headers: { Authorization: `Bearer ${apiKey}` },
      timeout: timeoutMs,
      retry: {
        limit: 3,
        // A creation has an Idempotency-Key, so it is safe to repeat too.
        methods: ['get', 'post'],
        statusCodes: [429, 502, 503, 504],
        maxRetryAfter: 30_000,
        retryOnTimeout: true,
        jitter: true,
        // On network errors `fetch` rejects with a TypeError (Fetch standard). ky recognises some by their messages, but not
        // Firefox's error for a lost body.
        shouldRetry: ({ error }) => error instanceof TypeError || undefined,
      },
      parseJson,
      stringifyJson,
      hooks: { beforeError: [({ error }) => withoutRequest(error)] },
      // Reads the whole body, so that the time-out and the retries cover it.
      fetch: async (input, init) => {
        const response = await (fetch ?? globalThis.fetch)(input, init);
        const body = await response.arrayBuffer();
        return new Response(response.body && body, response);
      },
    });
  }

  /** Yields every pet that the query selects. Fetches a page when the loop reaches the first pet of that page. */
  async *listPets(query: ListPetsQuery = {}, options: CallOptions = {}): AsyncGenerator<Pet> {
    let { cursor } = query;
    do {
      const page = await this.listPetsPage({ ...query, cursor }, options);
      yield* page.pets;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** Returns one page of pets, from one request. */
  async listPetsPage(query: ListPetsQuery = {}, options: CallOptions = {}): Promise<PetsPage> {
    const response = await this.#http.get('pets', { ...options, searchParams: { ...query } });
    const pets = await bodyOf(response, isPets);
    return { pets, nextCursor: nextCursor(response.headers.get('Link')) };
  }

  /** Adds a pet; retries never add a second one. Throws a RangeError if `categoryId` is a `number` but not a safe integer. */
  async createPet(
    newPet: NewPet,
    { idempotencyKey = crypto.randomUUID(), ...options }: CreatePetOptions = {},
  ): Promise<Pet> {
    const { categoryId } = newPet;
    if (typeof categoryId === 'number' && !Number.isSafeInteger(categoryId)) {
      throw new RangeError('categoryId must be an integer; use a bigint beyond ±(2^53 - 1)');
    }
    const headers = { 'Idempotency-Key': idempotencyKey };
    return bodyOf(await this.#http.post('pets', { ...options, headers, json: newPet }), isPet);
  }

  /**
   * Returns the pet with this id. Throws a RangeError for an id that is not a safe integer.
   * @deprecated Will be removed on 5 December 2030; use `listPets`.
   */
  async getPet(id: number, options: CallOptions = {}): Promise<Pet> {
    if (!Number.isSafeInteger(id)) throw new RangeError('id must be an integer');
    return bodyOf(await this.#http.get(`pets/${id}`, options), isPet);
  }
}

/** Returns the cursor in the `Link` to the next page (RFC 8288). The link's host is ignored, so it never gets the API key. */
const nextCursor = (link: string | null): string | undefined => {
  const query = /<[^>]*\?([^>]*)>; *rel="next"/.exec(link ?? '')?.[1];
  return new URLSearchParams(query).get('cursor') ?? undefined;
};

/** Converts an error of ky. The result has no request, because a request contains the API key. */
const withoutRequest = (error: Error): Error => {
  const { message, cause } = error;
  if (isNetworkError(error) || error instanceof TypeError)
    return new NetworkError(message, { cause: cause ?? error });
  if (isTimeoutError(error)) return new TimeoutError(message);
  return error instanceof HTTPError ? errorOf(error.response, message, error.data) : error;
};

const errorOf = ({ status, headers }: Response, message: string, body?: unknown) =>
  new AnimalStoreError(
    isErrorBody(body) ? body : { code: 'unexpected_response', status, message },
    headers.get('x-amzn-RequestId'),
  );

/** Returns the body of a success. Throws `unexpected_response` for any other body, such as the HTML of a proxy. */
const bodyOf = async <Body>(
  response: Response,
  isBody: (body: unknown) => body is Body,
): Promise<Body> => {
  const body: unknown = await response.json().catch(() => undefined);
  if (isBody(body)) return body;
  throw errorOf(response, 'The response is not from the animal store');
};

/** Whether a value is an object whose fields have these types; the types are names that `typeof` returns. */
const hasFields = (body: unknown, types: Readonly<Record<string, string>>) =>
  Object.entries(types).every(([name, type]) => typeof Reflect.get(Object(body), name) === type);

const isErrorBody = (body: unknown): body is ErrorBody =>
  hasFields(body, { code: 'string', message: 'string', status: 'number' });

const isPet = (body: unknown): body is Pet =>
  hasFields(body, { id: 'number', name: 'string', status: 'string' });

const isPets = (body: unknown): body is Pet[] => Array.isArray(body) && body.every(isPet);

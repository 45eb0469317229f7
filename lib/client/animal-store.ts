import ky, { HTTPError, isNetworkError, isTimeoutError, type KyInstance } from 'ky';
import type { ErrorBody, NewPet, Pet, PetStatus } from '../contract/bodies.ts';
import { parseJson, stringifyJson } from '../contract/exact-json.ts';

export type { ErrorBody, NewPet, Pet, PetStatus };

/** Selects pets, and where a page starts and how long it is. */
export interface ListPetsQuery {
  readonly status?: PetStatus | undefined;
  /** The most pets that a page may hold, 1 to 100; 20 by default. */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page with the same `status`; without it the list starts at its first pet. */
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
  /** Sends the requests, instead of the platform's own `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface CreatePetOptions extends CallOptions {
  /** The same key for the same pet adds it once, even across processes. By default each call has a random key. */
  readonly idempotencyKey?: string | undefined;
}

/** An error response. Its `code` tells it from others; `unexpected_response` when the body is not an Error body. */
export class AnimalStoreError extends Error {
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

/** No response came: DNS, connection or TLS failed on every attempt. `cause` is the error of `fetch`. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

/** No response came within `timeoutMs` on any attempt. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * The animal store as its clients see it. Every call is sent up to four times while the service is out of reach or
 * throttles, after the pause that `Retry-After` names. Integers beyond 2^53 are `bigint`. Calls throw AnimalStoreError
 * for an error response, NetworkError or TimeoutError without a response, and the `reason` of an aborted signal.
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
      },
      parseJson,
      stringifyJson,
      hooks: { beforeError: [({ error }) => withoutRequest(error)] },
      ...(fetch && { fetch }),
    });
  }

  /** Every pet that the query selects. A page is fetched when the loop reaches its first pet. */
  async *listPets(query: ListPetsQuery = {}, options: CallOptions = {}): AsyncGenerator<Pet> {
    let { cursor } = query;
    do {
      const page = await this.listPetsPage({ ...query, cursor }, options);
      yield* page.pets;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** One page, in one request. */
  async listPetsPage(query: ListPetsQuery = {}, options: CallOptions = {}): Promise<PetsPage> {
    const response = await this.#http.get('pets', {
      ...options,
      searchParams: { ...query },
    });
    return {
      pets: await response.json<Pet[]>(),
      nextCursor: nextCursor(response.headers.get('Link')),
    };
  }

  /** Adds a pet exactly once, however often the request is sent. Throws a RangeError for a `number` that is not exact. */
  async createPet(
    newPet: NewPet,
    { idempotencyKey = crypto.randomUUID(), ...options }: CreatePetOptions = {},
  ): Promise<Pet> {
    const { categoryId } = newPet;
    if (typeof categoryId === 'number' && !Number.isSafeInteger(categoryId)) {
      throw new RangeError('categoryId must be an integer; use a bigint beyond ±(2^53 - 1)');
    }
    const headers = { 'Idempotency-Key': idempotencyKey };
    return this.#http.post('pets', { ...options, headers, json: newPet }).json<Pet>();
  }

  /**
   * The pet with this id. Throws a RangeError for an id that is not an integer.
   * @deprecated Removed on 5 December 2030; use `listPets`.
   */
  async getPet(id: number, options: CallOptions = {}): Promise<Pet> {
    if (!Number.isSafeInteger(id)) throw new RangeError('id must be an integer');
    return this.#http.get(`pets/${id}`, options).json<Pet>();
  }
}

/** The cursor in the `Link` to the next page (RFC 8288). Only the cursor is used, so a link cannot take the API key to another host. */
const nextCursor = (link: string | null): string | undefined => {
  const query = /<[^>]*\?([^>]*)>; *rel="next"/.exec(link ?? '')?.[1];
  return new URLSearchParams(query).get('cursor') ?? undefined;
};

/** The error to throw for one of ky. The latter holds the request, and with it the API key. */
const withoutRequest = (error: Error): Error => {
  const { message, cause } = error;
  if (isNetworkError(error)) return new NetworkError(message, { cause });
  if (isTimeoutError(error)) return new TimeoutError(message);
  if (!(error instanceof HTTPError)) return error;
  const { status, headers } = error.response;
  const body = isErrorBody(error.data)
    ? error.data
    : { code: 'unexpected_response', status, message };
  return new AnimalStoreError(body, headers.get('x-amzn-RequestId'));
};

const isErrorBody = (data: unknown): data is ErrorBody =>
  typeof data === 'object' &&
  data !== null &&
  'code' in data &&
  typeof data.code === 'string' &&
  'message' in data &&
  typeof data.message === 'string' &&
  'status' in data &&
  typeof data.status === 'number';

import ky, { HTTPError, type KyInstance } from 'ky';
import { parseJson, stringifyJson } from '../contract/exact-json.ts';
import type { components, operations } from './contract.ts';

export type Pet = components['schemas']['Pet'];
export type NewPet = components['schemas']['NewPet'];
export type PetStatus = components['schemas']['PetStatus'];
type ErrorBody = components['schemas']['Error'];

/** What of the catalogue is listed; `limit` is the size of the pages that it is fetched in. */
export type ListPetsQuery = Omit<
  NonNullable<operations['listPets']['parameters']['query']>,
  'cursor'
>;

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
  /** The same key for the same pet adds it once, even when the process ended in between. By default a key of its own. */
  readonly idempotencyKey?: string;
}

/** An error that the service has answered with. Its `code` tells it from others. */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: string;
  /** The HTTP status code. */
  readonly status: number;
  /** Names the request, for a question about it. */
  readonly requestId: string | undefined;

  constructor({ code, status, message }: ErrorBody, requestId: string | null) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId ?? undefined;
  }
}

/**
 * The animal store as its clients see it. Every call is sent up to four times while the service is out of reach or
 * throttles, as `Retry-After` says where it is given. Integers beyond 2^53 are `bigint`. Throws `AnimalStoreError` for an
 * error of the service, and ky's `NetworkError` or `TimeoutError` when there is no answer.
 */
export class AnimalStore {
  readonly #http: KyInstance;

  constructor({ baseAddress, apiKey, timeoutMs = 10_000, fetch }: AnimalStoreOptions) {
    this.#http = ky.create({
      baseUrl: baseAddress.replace(/\/*$/, '/'),
      headers: { Authorization: `Bearer ${apiKey}` },
      timeout: timeoutMs,
      retry: {
        limit: 3,
        // A creation is safe to repeat as well, for it has an Idempotency-Key.
        methods: ['get', 'post'],
        statusCodes: [429, 502, 503, 504],
        maxRetryAfter: 30_000,
        retryOnTimeout: true,
        jitter: true,
      },
      parseJson,
      stringifyJson,
      hooks: { beforeError: [({ error }) => toAnimalStoreError(error)] },
      ...(fetch && { fetch }),
    });
  }

  /** Every pet that the query selects, fetched page by page as the loop gets there. */
  async *listPets(query: ListPetsQuery = {}, options: CallOptions = {}): AsyncGenerator<Pet> {
    let page = await this.#http.get('pets', { ...options, searchParams: query });
    for (;;) {
      yield* await page.json<Pet[]>();
      const next = nextAddress(page);
      if (next === undefined) return;
      page = await this.#http.get(next, options);
    }
  }

  /** Adds a pet, once, however often it has to be sent. */
  createPet(
    newPet: NewPet,
    { idempotencyKey = crypto.randomUUID(), ...options }: CreatePetOptions = {},
  ): Promise<Pet> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    return this.#http.post('pets', { ...options, headers, json: newPet }).json<Pet>();
  }

  /**
   * The pet of an id.
   * @deprecated Removed on 5 December 2030; use `listPets`.
   */
  getPet(id: number, options: CallOptions = {}): Promise<Pet> {
    return this.#http.get(`pets/${id}`, options).json<Pet>();
  }
}

/** Where the `Link` of a page leads (RFC 8288). Never to another host, for it would get the API key. */
const nextAddress = ({ headers, url }: Response): URL | undefined => {
  const target = /<([^>]*)>; *rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  if (target === undefined) return undefined;
  const next = new URL(target, url);
  if (next.origin !== new URL(url).origin) throw new Error('The next page is on another host');
  return next;
};

const toAnimalStoreError = (error: Error): Error =>
  error instanceof HTTPError && isErrorBody(error.data)
    ? new AnimalStoreError(error.data, error.response.headers.get('x-amzn-RequestId'))
    : error;

const isErrorBody = (data: unknown): data is ErrorBody =>
  typeof data === 'object' &&
  data !== null &&
  'code' in data &&
  typeof data.code === 'string' &&
  'message' in data &&
  typeof data.message === 'string' &&
  'status' in data &&
  typeof data.status === 'number';

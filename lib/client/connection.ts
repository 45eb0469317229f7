import { apiVersion } from '../contract/api-version.ts';
import { parseJson } from '../contract/exact-json.ts';
import { isRecord } from '../contract/is-record.ts';
import type { Route } from '../contract/routes.ts';
import { isErrorBody } from './bodies.ts';
import {
  AnimalStoreError,
  NetworkError,
  type ResponseDetails,
  TimeoutError,
  unexpectedResponse,
} from './errors.ts';
import { retryAfterMs } from './response-headers.ts';
import { maxTimerMs, pause, withTimeLimit } from './timers.ts';

export interface ConnectionOptions {
  /** The base address, an `http` or `https` URL that ends in `/v1`. */
  readonly baseAddress: string;
  /** The API key that the operator of the service issued. */
  readonly apiKey: string;
  /** The time limit of one attempt, in ms. The default is 10,000. */
  readonly timeoutMs?: number | undefined;
  /** The time limit of all waits between the attempts of a call together, in ms. The default is 30,000. */
  readonly maxRetryWaitMs?: number | undefined;
  /**
   * A function that is used instead of the platform's `fetch`, such as that of undici. If its promise is
   * rejected, the client retries the call, and at last throws a NetworkError.
   */
  readonly fetch?: Fetch | undefined;
}

/** What the client needs of `fetch`. */
type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string | null;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<FetchResponse>;

interface FetchResponse {
  readonly status: number;
  readonly type: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface ServiceRequest {
  readonly method: Route['method'];
  /** The path below the base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The HTTP status code of a success. */
  readonly successStatus: number;
}

/** A successful response. */
export interface ServiceResponse {
  /** The parsed JSON; `undefined` if the body is not JSON. */
  readonly body: unknown;
  readonly link: string | null;
  readonly details: ResponseDetails;
}

const maxRetries = 3;
const retriedStatuses = [429, 502, 503, 504];
const firstBackoffMs = 300;

/** A connection to the service. It sends requests with the API key, and limits their number and time. */
export class Connection {
  readonly #baseAddress: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetryWaitMs: number;
  readonly #fetch: Fetch | undefined;

  /**
   * Throws a TypeError or RangeError for an invalid option. Its message never repeats the
   * option, which can be a secret.
   */
  constructor({
    baseAddress,
    apiKey,
    timeoutMs = 10_000,
    maxRetryWaitMs = 30_000,
    fetch,
  }: ConnectionOptions) {
    // The syntax of a bearer token (RFC 6750, section 2.1).
    if (typeof apiKey !== 'string' || !/^[\w.~+/-]+=*$/.test(apiKey)) {
      throw new TypeError(
        'apiKey must be an API key: letters, digits and underscores, without a space or a line break',
      );
    }
    requireMs('timeoutMs', timeoutMs, 1);
    requireMs('maxRetryWaitMs', maxRetryWaitMs, 0);
    this.#baseAddress = withoutSlashAtEnd(baseAddress);
    this.#apiKey = apiKey;
    this.#timeoutMs = timeoutMs;
    this.#maxRetryWaitMs = maxRetryWaitMs;
    this.#fetch = fetch;
  }

  /** Sends a request and retries it. Throws the errors that AnimalStore documents. */
  async send(request: ServiceRequest, signal: AbortSignal | undefined): Promise<ServiceResponse> {
    let waitedMs = 0;
    for (let retries = 0; ; retries += 1) {
      try {
        return await withTimeLimit(this.#timeoutMs, signal, (ended) =>
          this.#exchange(request, ended),
        );
      } catch (error) {
        const waitMs = waitBeforeRetry(error, retries);
        waitedMs += waitMs;
        if (retries === maxRetries || waitedMs > this.#maxRetryWaitMs) throw error;
        await pause(waitMs, signal);
      }
    }
  }

  /** Sends a request once. */
  async #exchange(request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse> {
    const { method, path, headers, body: sent = null, successStatus } = request;
    // A variable, because browsers refuse a call of `fetch` as a method of something else.
    const fetch: Fetch = this.#fetch ?? globalThis.fetch;
    const fetched = fetch(`${this.#baseAddress}/${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.#apiKey}`, ...headers },
      body: sent,
      // Otherwise `fetch` would send the request to any other host.
      redirect: 'manual',
      signal,
    });
    const response = await this.#orNetworkError(fetched);
    const details = this.#detailsOf(response);
    const { status } = details;
    if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      throw unexpectedResponse(
        'The response is a redirect, which the service never sends: check baseAddress',
        details,
      );
    }
    const body = parseBody(await this.#orNetworkError(response.text()));
    if (status === successStatus) return { body, link: response.headers.get('Link'), details };
    throw this.#errorOf(body, details);
  }

  #detailsOf({ status, headers }: FetchResponse): ResponseDetails {
    const requestId = headers.get('x-amz-apigw-id') ?? undefined;
    return {
      status,
      requestId: requestId && this.#masked(requestId),
      retryAfterMs: retryAfterMs(headers.get('Retry-After')),
    };
  }

  /** Returns the error for a response that is no success. */
  #errorOf(body: unknown, details: ResponseDetails): AnimalStoreError {
    const { status } = details;
    if (status < 400 || !isErrorBody(body)) {
      const message = `The response with HTTP status ${status} is not from the animal store`;
      return unexpectedResponse(message + hintOfVersion(this.#baseAddress), details);
    }
    const masked = { code: this.#masked(body.code), message: this.#masked(body.message) };
    return new AnimalStoreError(masked, details);
  }

  /**
   * Throws a NetworkError if `fetch`, or the body of its response, rejects a promise. Any other error is a
   * defect, of the client or of the given `fetch`, which a retry would not change.
   */
  async #orNetworkError<Result>(promise: Promise<Result>): Promise<Result> {
    try {
      return await promise;
    } catch (error) {
      // Only the message and the code of the reason are copied, because another field contains the bytes of a
      // malformed response, which can repeat the API key.
      const { message, code } = reasonOf(error);
      const cause = new Error(this.#masked(`${message || code || error}`));
      if (code !== undefined) Object.assign(cause, { code });
      throw new NetworkError(`No complete response came: ${cause.message}`, { cause });
    }
  }

  /** Removes the API key from a text, because errors are logged. */
  #masked(text: string): string {
    return text.replaceAll(this.#apiKey, '<API key>');
  }
}

/**
 * Returns the fields of the innermost error in a chain of causes that has a message or a code. Platforms wrap
 * it in general errors, such as `fetch failed`.
 */
const reasonOf = (error: unknown): Readonly<Record<string, unknown>> => {
  const chain = [];
  // A chain can be a circle.
  for (let each = error; isRecord(each) && chain.length < 10; each = each['cause'])
    chain.push(each);
  return chain.findLast(({ message, code }) => message || code) ?? {};
};

const hintOfVersion = (baseAddress: string): string =>
  baseAddress.endsWith(`/${apiVersion}`) ? '' : `. The baseAddress may lack /${apiVersion}`;

/** Throws a RangeError for a duration that a timer can't wait. */
const requireMs = (name: string, ms: unknown, minimum: number): void => {
  if (typeof ms === 'number' && ms >= minimum && ms <= maxTimerMs) return;
  throw new RangeError(`${name} must be a number of milliseconds from ${minimum} to ${maxTimerMs}`);
};

/** Returns a base address without slashes at its end. Throws a TypeError if it is malformed. */
const withoutSlashAtEnd = (baseAddress: string): string => {
  const url = parseUrl(baseAddress);
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username ||
    url.password ||
    url.search ||
    url.hash
  ) {
    throw new TypeError(
      `baseAddress must be a URL such as https://animal-store.example/${apiVersion}, without a user, a query or a fragment`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
};

/** Parses a URL like `URL.parse`, which older browsers don't have. */
const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
};

/**
 * Returns how long to wait before a retry, in ms. Throws the error of the last attempt if a retry can't help.
 */
const waitBeforeRetry = (error: unknown, retries: number): number => {
  const backoffMs = Math.random() * firstBackoffMs * 2 ** retries;
  if (error instanceof NetworkError || error instanceof TimeoutError) return backoffMs;
  if (error instanceof AnimalStoreError && retriedStatuses.includes(error.status)) {
    return Math.max(error.retryAfterMs ?? 0, backoffMs);
  }
  throw error;
};

/** Parses JSON. Returns `undefined` for anything else. */
const parseBody = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

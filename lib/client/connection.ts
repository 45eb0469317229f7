import { parseJson } from '../contract/exact-json.ts';
import type { Route } from '../contract/routes.ts';
import type { ErrorBody } from './bodies.ts';
import {
  AnimalStoreError,
  NetworkError,
  type ResponseDetails,
  TimeoutError,
  unexpectedResponse,
} from './errors.ts';
import { retryAfterMs } from './response-headers.ts';
import { maxTimerMs, pause, withTimeout } from './timers.ts';

export interface ConnectionOptions {
  /** The base address, an `http` or `https` URL that ends in `/v1`. */
  readonly baseAddress: string;
  /** The API key that the operator of the service issued. */
  readonly apiKey: string;
  /** The time limit of one attempt, in ms. The default is 10,000. */
  readonly timeoutMs?: number;
  /** The time limit of all waits between the attempts of a call together, in ms. The default is 30,000. */
  readonly maxRetryWaitMs?: number;
  /**
   * A function that is used instead of the platform's `fetch`. Errors that it throws, except
   * TypeErrors, reach you unchanged.
   */
  readonly fetch?: typeof fetch;
}

interface ServiceRequest {
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
  /** The parsed JSON; `undefined` if there is no body, or if it is not JSON. */
  readonly body: unknown;
  readonly link: string | null;
  readonly details: ResponseDetails;
}

const maxRetries = 3;
const retriedStatuses = [429, 502, 503, 504];
const firstBackoffMs = 300;

/**
 * The maximum size of a response, in bytes after decompression. It limits memory. The largest page of pets
 * takes less.
 */
const maxResponseBytes = 1_048_576;

/** The maximum length of a text of the server in an error, in UTF-16 code units. */
const maxTextLength = 1_024;

/**
 * Matches characters that control a terminal, break or reorder a line, or are invisible: Unicode's Cc, Cf,
 * Zl, Zp and Default_Ignorable_Code_Point.
 */
const unloggable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A connection to the service. It sends requests with the API key, and limits their number, their time and
 * the size of the responses.
 */
export class Connection {
  readonly #baseAddress: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetryWaitMs: number;
  readonly #fetch: typeof fetch | undefined;

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
        return await withTimeout(
          (ended) => this.#exchange(request, ended),
          this.#timeoutMs,
          signal,
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
    const response = await this.#fetchResponse(path, {
      method,
      headers: { Authorization: `Bearer ${this.#apiKey}`, Accept: 'application/json', ...headers },
      body: sent,
      // Otherwise `fetch` would send the request to any other host.
      redirect: 'manual',
      signal,
    });
    const details = this.#detailsOf(response);
    const { status } = details;
    if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      throw unexpectedResponse(
        'The response is a redirect, which the service never sends: check baseAddress',
        details,
      );
    }
    const bytes = await this.#orNetworkError(readBody(response));
    if (bytes === undefined) {
      throw unexpectedResponse(
        `The response is larger than ${maxResponseBytes / 2 ** 20} MiB`,
        details,
      );
    }
    const body = parseBody(bytes);
    if (status === successStatus) return { body, link: response.headers.get('Link'), details };
    if (status >= 400 && isErrorBody(body)) {
      const { code, message } = body;
      const goesOn = this.#baseAddress.includes('/v1/') && !this.#baseAddress.endsWith('/v1');
      const isElsewhere = goesOn && [400, 404, 405].includes(status);
      const hint = isElsewhere ? ' (baseAddress goes on after /v1)' : '';
      throw new AnimalStoreError(
        { code: this.#loggable(code), message: this.#loggable(message) + hint },
        details,
      );
    }
    const suspicion = this.#baseAddress.endsWith('/v1') ? '' : ': baseAddress may lack /v1';
    throw unexpectedResponse(
      `The response with HTTP status ${status} is not from the animal store${suspicion}`,
      details,
    );
  }

  #fetchResponse(path: string, init: RequestInit): Promise<Response> {
    // `fetch` is called without `this`, because browsers require that.
    const { fetch } = { fetch: this.#fetch ?? globalThis.fetch };
    return this.#orNetworkError(fetch(`${this.#baseAddress}/${path}`, init));
  }

  #detailsOf({ status, headers }: Response): ResponseDetails {
    const requestId = headers.get('x-amz-apigw-id');
    return {
      status,
      requestId: requestId === null ? undefined : this.#loggable(requestId),
      retryAfterMs: retryAfterMs(headers.get('Retry-After')),
    };
  }

  /** Converts a TypeError, which `fetch` and its body throw when the network fails, to a NetworkError. */
  async #orNetworkError<Result>(promise: Promise<Result>): Promise<Result> {
    try {
      return await promise;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      // Node.js keeps the reason in `cause`. Only its message and code are copied, because another field
      // contains the bytes of a malformed response, which can repeat the API key.
      const { message, code } = Object(error.cause ?? error);
      const cause = new Error(this.#loggable(`${message || code}`));
      if (code !== undefined) Object.assign(cause, { code });
      throw new NetworkError(`No complete response came: ${cause.message}`, { cause });
    }
  }

  /**
   * Removes unloggable characters and the API key from a text of the server, and cuts it, because errors are
   * logged and shown in terminals.
   */
  #loggable(text: string): string {
    const visible = text.replace(unloggable, ' ');
    return visible.replaceAll(this.#apiKey, '<API key>').slice(0, maxTextLength);
  }
}

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
      'baseAddress must be a URL such as https://animal-store.example/v1, without a user, a query or a fragment',
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

/** Reads a body. Returns `undefined` for a body over the limit, without reading the rest. */
const readBody = async ({ body }: Response): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) break;
    size += value.byteLength;
    if (size > maxResponseBytes) return undefined;
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
};

/** Parses JSON in UTF-8. Returns `undefined` for anything else. */
const parseBody = (bytes: Uint8Array): unknown => {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
};

const isErrorBody = (body: unknown): body is ErrorBody => {
  const { code, message, status } = Object(body);
  return typeof code === 'string' && typeof message === 'string' && typeof status === 'number';
};

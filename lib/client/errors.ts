import type { ErrorBody } from './bodies.ts';

/** The details of a response that an error is about. */
export interface ResponseDetails {
  /** The HTTP status code. */
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

// Node.js prints the static name of a class. Bundlers may rename a class, so each class sets its name.

/**
 * The error for an error response. Its `code` is `unexpected_response` if the response is one that the
 * service does not send, even if it is a 200: another body, a redirect, or a page whose link can't be
 * followed.
 */
export class AnimalStoreError extends Error {
  static override readonly name = 'AnimalStoreError';
  override readonly name = 'AnimalStoreError';
  readonly code: string;
  /** The HTTP status code. It is 0 for a redirect in a browser, which hides the status. */
  readonly status: number;
  /** Identifies the request when you ask the operator about it (`x-amz-apigw-id`). */
  readonly requestId: string | undefined;
  /**
   * How long the service asks you to wait before you repeat the call, in ms (`Retry-After`);
   * `undefined` if it does not ask.
   */
  readonly retryAfterMs: number | undefined;

  constructor(
    { code, message }: Pick<ErrorBody, 'code' | 'message'>,
    { status, requestId, retryAfterMs }: ResponseDetails,
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The error for a call without a complete response, because DNS, a proxy, the connection or TLS failed on the
 * last attempt, or in a web page, because the service does not allow its origin. `cause` is an Error with the
 * reason of the platform. In Node.js, its `code` is that of the system, such as `ECONNREFUSED`.
 */
export class NetworkError extends Error {
  static override readonly name = 'NetworkError';
  override readonly name = 'NetworkError';
}

/** The error for a call without a complete response within `timeoutMs` on the last attempt. */
export class TimeoutError extends Error {
  static override readonly name = 'TimeoutError';
  override readonly name = 'TimeoutError';
}

/** Returns the error for a response that the service does not send. */
export const unexpectedResponse = (message: string, details: ResponseDetails) =>
  new AnimalStoreError({ code: 'unexpected_response', message }, details);

import type { ErrorBody } from './bodies.ts';

/** What an error tells of the response that it is about. */
export interface ResponseDetails {
  /** The HTTP status code. */
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

// Node.js prints the static name of a class. Bundlers may rename a class, so each class sets its name.

/**
 * An error response. Its `code` is `unexpected_response` if the response, even a 200, is not one that the
 * service sends: another body, a redirect, or a list that does not end.
 */
export class AnimalStoreError extends Error {
  static override readonly name = 'AnimalStoreError';
  override readonly name = 'AnimalStoreError';
  readonly code: string;
  /** The HTTP status code; 0 for a redirect in a browser, which hides it. */
  readonly status: number;
  /** Identifies the request when you ask the operator about it (`x-amz-apigw-id`). */
  readonly requestId: string | undefined;
  /** How long the service asks you to wait before you repeat the call, in ms, if it does (`Retry-After`). */
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
 * No complete response came: DNS, connection or TLS failed on the last attempt. `cause` is an Error with the
 * reason of the platform; in Node.js, its `code` is the one of the system, such as `ECONNREFUSED`.
 */
export class NetworkError extends Error {
  static override readonly name = 'NetworkError';
  override readonly name = 'NetworkError';
}

/** No complete response came within `timeoutMs` on the last attempt. */
export class TimeoutError extends Error {
  static override readonly name = 'TimeoutError';
  override readonly name = 'TimeoutError';
}

/** The error for a response that the service does not send. */
export const unexpectedResponse = (message: string, details: ResponseDetails) =>
  new AnimalStoreError({ code: 'unexpected_response', message }, details);

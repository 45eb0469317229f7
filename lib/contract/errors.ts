import { apiVersion } from './api-version.ts';
import type { ErrorBody } from './error-body.ts';
import { maxBodyBytes, maxContentTypeLength, withCommas } from './limits.ts';

/**
 * Descriptions that say when the service returns each error, by error code, in the order of status. They are
 * documentation only, and no function bundles them.
 */
export const errorDescriptions = {
  invalid_request:
    'The query, a header or the body is invalid. The message says what is wrong. Correct the request before you repeat it.',
  unauthorized:
    'The API key is missing, mistyped, unknown, expired or revoked. It is checked before the query, the other headers and the content of the body. Check that you send the right key; if it is right, ask the operator for another.',
  not_found:
    'Nothing has this `id`, or the path does not exist. Check both, because repeating the request does not help.',
  method_not_allowed: 'The path supports only the methods in `Allow`. Use one of them.',
  endpoint_removed:
    'The operation was removed on its sunset date. The message names the one to use instead.',
  payload_too_large: `The body has more than ${withCommas(maxBodyBytes)} bytes. Send a smaller one.`,
  unsupported_media_type: `Send \`Content-Type: application/json\` in UTF-8, with at most ${maxContentTypeLength} characters, and no \`Content-Encoding\` but \`identity\`.`,
  idempotency_key_reused:
    'The `Idempotency-Key` was used with another body. This request added nothing. To send this body too, use a new key.',
  too_many_requests:
    'You, or all clients together, sent too many requests. This one changed nothing. Wait as many seconds as `Retry-After` says, and then repeat it.',
  internal_error:
    'The service has a defect, so repeating the request rarely helps. Report it to the operator with the value of `x-amz-apigw-id`. Repeat a `POST` only with the same `Idempotency-Key`.',
  bad_gateway:
    'The service returned no usable response. Repeat the request after some seconds. Repeat a `POST` only with the same `Idempotency-Key`.',
  service_unavailable:
    'The service crashed, has no capacity, or cannot reach its database. Wait as many seconds as `Retry-After` says. Repeat a `POST` only with the same `Idempotency-Key`.',
  gateway_timeout:
    'The service did not respond in time. Repeat the request after some seconds. Repeat a `POST` only with the same `Idempotency-Key`.',
};

/** The code of an error. An error without a description is a type error. */
type ErrorCode = keyof typeof errorDescriptions;

/** The details of an error. The `cause` is for the log, and never for the response. */
interface ErrorDetails extends ErrorOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error whose message is sent to the client unchanged. Only the functions of `errors` construct one. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, status: number, message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.status = status;
    this.headers = details.headers ?? {};
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}

const retryAfterOneSecond = { 'Retry-After': '1' };

/** Every error of the service, with its code, status and message. */
export const errors = {
  invalidRequest: (message: string) => new ApiError('invalid_request', 400, message),
  unauthorized: () =>
    new ApiError(
      'unauthorized',
      401,
      'The API key is missing or invalid. Send it as `Authorization: Bearer <API key>`.',
      // RFC 6750 §3: a 401 names the authentication scheme that the service accepts.
      { headers: { 'WWW-Authenticate': 'Bearer' } },
    ),
  notFound: () => new ApiError('not_found', 404, 'The requested resource could not be found.'),
  unknownPath: () =>
    new ApiError(
      'not_found',
      404,
      `This path does not exist. Append a path of openapi.json to the base address, which ends in /${apiVersion}.`,
    ),
  methodNotAllowed: (allowed: readonly string[]) =>
    new ApiError(
      'method_not_allowed',
      405,
      `This path supports ${allowed.join(', ')}, not the method of the request.`,
      { headers: { Allow: allowed.join(', ') } },
    ),
  endpointRemoved: (successor: string) =>
    new ApiError(
      'endpoint_removed',
      410,
      `This endpoint has been removed. Use GET ${successor} instead.`,
    ),
  payloadTooLarge: () =>
    new ApiError(
      'payload_too_large',
      413,
      `The body must have at most ${withCommas(maxBodyBytes)} bytes.`,
    ),
  unsupportedMediaType: (
    message = 'Content-Type must be sent once, as application/json in UTF-8.',
  ) =>
    new ApiError('unsupported_media_type', 415, message, {
      // RFC 9110 §15.5.16: a 415 lists the media types and codings that the service accepts.
      headers: { Accept: 'application/json', 'Accept-Encoding': 'identity' },
    }),
  idempotencyKeyReused: () =>
    new ApiError('idempotency_key_reused', 422, 'This Idempotency-Key was used with another body.'),
  tooManyRequests: () =>
    new ApiError('too_many_requests', 429, 'Too many requests. Try again later.', {
      headers: retryAfterOneSecond,
    }),
  internalError: (cause?: unknown) =>
    new ApiError('internal_error', 500, 'The service failed to handle the request.', { cause }),
  badGateway: () => new ApiError('bad_gateway', 502, 'The service returned no usable response.'),
  serviceUnavailable: (cause?: unknown) =>
    new ApiError(
      'service_unavailable',
      503,
      'The service is unavailable. Try again later. Repeat a POST only with the same Idempotency-Key.',
      { headers: retryAfterOneSecond, cause },
    ),
  gatewayTimeout: () =>
    new ApiError('gateway_timeout', 504, 'The service did not respond in time.'),
} as const;

/** What an error message calls a part of a request. */
export type Kind = 'field' | 'query parameter' | 'header';

/** Returns the `invalid_request` whose message names each problem. */
export const refusal = (problems: readonly string[]): ApiError =>
  errors.invalidRequest(`${problems.join('; ')}.`);

/** Matches a short name of visible ASCII characters, but no quote and no markup. */
const plainName = /^[!#-%(-;=?-~]{1,32}$/;

/**
 * Returns the text for an unknown field or parameter in an error message. It has the name only if that is
 * plain and no part of an API key. The length of another name helps to find it.
 */
export const notKnown = (kind: Kind, name: string): string =>
  plainName.test(name) && !/pets_(live|test)_/.test(name)
    ? `${kind} ${name} is not known`
    : `a ${kind} with a name of length ${name.length} is not known`;

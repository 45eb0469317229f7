import { maxContentTypeLength } from '../../lib/contract/limits.ts';

/** When the service returns an error, by its code; in the order of their statuses. */
export const errorDescriptions: Readonly<Record<string, string>> = {
  invalid_request: 'The query, a header or the body is invalid. The message names each field.',
  unauthorized:
    'The API key is missing, mistyped, unknown, expired or revoked. It is checked before the rest of the request.',
  not_found: 'No animal has this `id`, or the path does not exist.',
  method_not_allowed:
    'The path does not support this method. `Allow` lists those that it supports.',
  endpoint_removed: 'The operation was removed on its sunset date.',
  payload_too_large: 'The request is too large.',
  unsupported_media_type: `The \`Content-Type\` is not \`application/json\` in UTF-8 or is longer than ${maxContentTypeLength} characters, or the \`Content-Encoding\` is not \`identity\`.`,
  idempotency_key_reused: 'The `Idempotency-Key` was used with another animal.',
  too_many_requests: 'You sent too many requests. Wait for the seconds in `Retry-After`.',
  internal_error: 'The service has a defect.',
  bad_gateway:
    'The service returned no usable response. Repeat a creation only with an `Idempotency-Key`.',
  service_unavailable:
    'The service crashed, has no capacity, or cannot reach its database. Wait for the seconds in `Retry-After`. Repeat a creation only with an `Idempotency-Key`.',
  gateway_timeout: 'The service did not respond in time.',
};

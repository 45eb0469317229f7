import { maxContentTypeLength } from '../contract/limits.ts';

/** Says when the service returns each error, by error code, in order of status. */
export const errorDescriptions: Readonly<Record<string, string>> = {
  invalid_request: 'The query, a header or the body is invalid. The message says what is wrong.',
  unauthorized:
    'The API key is missing, mistyped, unknown, expired or revoked. It is checked before the rest of the request.',
  not_found: 'No animal has this `id`, or the path does not exist.',
  method_not_allowed: 'The path supports only the methods in `Allow`.',
  endpoint_removed: 'The operation was removed on its sunset date.',
  payload_too_large: 'The request is too large.',
  unsupported_media_type: `\`Content-Type\` must be \`application/json\` in UTF-8 and have at most ${maxContentTypeLength} characters. \`Content-Encoding\` must be \`identity\` or absent.`,
  idempotency_key_reused: 'The `Idempotency-Key` was used with another animal.',
  too_many_requests: 'You sent too many requests. Wait as many seconds as `Retry-After` says.',
  internal_error: 'A defect. Repeat a creation only with the same `Idempotency-Key`.',
  bad_gateway:
    'The service returned no usable response. Repeat a creation only with the same `Idempotency-Key`.',
  service_unavailable:
    'The service crashed, has no capacity, or cannot reach its database. Wait as many seconds as `Retry-After` says. Repeat a creation only with the same `Idempotency-Key`.',
  gateway_timeout:
    'The service did not respond in time. Repeat a creation only with the same `Idempotency-Key`.',
};

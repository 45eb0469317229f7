import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { allowedMethods, listPets } from '../../lib/contract/operations.ts';

/** When the service returns an error, by its code. */
const when: Readonly<Record<string, string>> = {
  invalid_request: 'The query, a header or the body is invalid; the message names each field.',
  unauthorized:
    'The API key is missing, mistyped, unknown, expired or revoked. Checked before anything else.',
  not_found: 'No animal has this `id`, or the path does not exist.',
  method_not_allowed: 'The path does not have this method; `Allow` lists its methods.',
  endpoint_removed: 'The operation has been removed, on its sunset date.',
  payload_too_large: 'The request is larger than the operation accepts.',
  unsupported_media_type:
    'The `Content-Type` is not `application/json` in UTF-8 or is longer than 255 characters, or a `Content-Encoding` is not `identity`.',
  idempotency_key_reused: 'The `Idempotency-Key` was used with another animal.',
  too_many_requests: 'Too many requests; wait the seconds of `Retry-After`.',
  internal_error: 'The service has a defect.',
  bad_gateway:
    'The service gave no usable response. Repeat a creation only with an `Idempotency-Key`.',
  service_unavailable:
    'The service crashed, has no capacity, or cannot reach its database; wait the seconds of `Retry-After`. Repeat a creation only with an `Idempotency-Key`.',
  gateway_timeout: 'The service did not respond in time.',
};

/** When the service returns an error of this code. Throws for one that is not described. */
export const whenOf = ({ code }: ApiError): string => {
  const text = when[code];
  if (text === undefined) throw new Error(`infra/openapi/errors.ts does not describe ${code}`);
  return text;
};

const examples: { readonly [Name in keyof typeof errors]: () => ApiError } = {
  ...errors,
  invalidRequest: () => errors.invalidRequest('limit must be an integer from 1 to 100.'),
  methodNotAllowed: () => errors.methodNotAllowed(allowedMethods(listPets.path)),
  endpointRemoved: () => errors.endpointRemoved('GET /pets'),
};

/** Every error that a client can get, by status. */
export const describedErrors: readonly ApiError[] = Object.values(examples).map((example) =>
  example(),
);

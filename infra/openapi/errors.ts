import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { allowedMethods, listPets } from '../../lib/contract/operations.ts';

/** When a client meets an error, by its code. */
const when: Readonly<Record<string, string>> = {
  invalid_request:
    'The query, a header or the body is wrong; the message names each offending field.',
  unauthorized:
    'The API key is missing, mistyped, unknown, expired or revoked. Comes before any other check.',
  not_found: 'There is no such animal, or no such path.',
  method_not_allowed: 'The path has other methods, which `Allow` lists.',
  endpoint_removed: 'The operation has reached its sunset.',
  payload_too_large: 'The request is larger than any that the operation takes.',
  unsupported_media_type:
    'The `Content-Type` is not `application/json` in UTF-8 or is longer than 255 characters, or a `Content-Encoding` is not `identity`.',
  idempotency_key_reused: 'The `Idempotency-Key` came before with another animal.',
  too_many_requests: 'Requests come too fast; send it again after `Retry-After`.',
  internal_error: 'The service has a defect.',
  bad_gateway:
    'The service gave no usable answer. Repeating a creation is safe only under an `Idempotency-Key`.',
  service_unavailable:
    'The service crashed, has no capacity, or can not reach its store; send it again after `Retry-After`. Repeating a creation is safe only under an `Idempotency-Key`.',
  gateway_timeout: 'The service took too long.',
};

/** When a client meets an error of this code. Throws for one that is not described. */
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

/** Every error as a client can meet it, by status. */
export const describedErrors: readonly ApiError[] = Object.values(examples).map((example) =>
  example(),
);

import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { allowedMethods, listPets } from '../../lib/contract/operations.ts';

/** An error as a client can meet it, and when it does. */
interface DescribedError {
  readonly example: ApiError;
  readonly when: string;
}

const described: { readonly [Name in keyof typeof errors]: DescribedError } = {
  invalidRequest: {
    example: errors.invalidRequest('limit must be an integer from 1 to 100.'),
    when: 'The query, a header or the body is wrong; the message names each offending field.',
  },
  unauthorized: {
    example: errors.unauthorized(),
    when: 'The API key is missing, mistyped, unknown, expired or revoked. Comes before any other check.',
  },
  notFound: {
    example: errors.notFound(),
    when: 'There is no such animal, or no such path.',
  },
  methodNotAllowed: {
    example: errors.methodNotAllowed(allowedMethods(listPets.path)),
    when: 'The path has other methods, which `Allow` lists.',
  },
  endpointRemoved: {
    example: errors.endpointRemoved('GET /pets'),
    when: 'The operation has reached its sunset.',
  },
  payloadTooLarge: {
    example: errors.payloadTooLarge(),
    when: 'The request is larger than any that the operation takes.',
  },
  unsupportedMediaType: {
    example: errors.unsupportedMediaType(),
    when: 'The `Content-Type` is not `application/json` in UTF-8 or is longer than 255 characters, or a `Content-Encoding` is not `identity`.',
  },
  idempotencyKeyReused: {
    example: errors.idempotencyKeyReused(),
    when: 'The `Idempotency-Key` came before with another animal.',
  },
  tooManyRequests: {
    example: errors.tooManyRequests(),
    when: 'Requests come too fast; send it again after `Retry-After`.',
  },
  internalError: {
    example: errors.internalError(),
    when: 'The service has a defect.',
  },
  badGateway: {
    example: errors.badGateway(),
    when: 'The service gave no usable answer. Repeating a creation is safe only under an `Idempotency-Key`.',
  },
  serviceUnavailable: {
    example: errors.serviceUnavailable(),
    when: 'The service crashed, has no capacity, or can not reach its store; send it again after `Retry-After`. Repeating a creation is safe only under an `Idempotency-Key`.',
  },
  gatewayTimeout: {
    example: errors.gatewayTimeout(),
    when: 'The service took too long.',
  },
};

/** Every error, by status. */
export const describedErrors: readonly DescribedError[] = Object.values(described);

/** When a client meets an error of this code. */
export const whenOf = ({ code }: ApiError): string | undefined =>
  describedErrors.find(({ example }) => example.code === code)?.when;

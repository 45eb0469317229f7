import { errors } from '../contract/errors.ts';
import { idempotencyKeyPattern, maxIdempotencyKeyLength } from '../contract/limits.ts';
import { headerValues } from './header-values.ts';
import type { OperationEvent } from './operation-request.ts';

/**
 * Returns the request's `Idempotency-Key`, if it has one. Throws `invalid_request` for one that is empty, too
 * long or not visible ASCII.
 */
export const idempotencyKeyOf = (event: OperationEvent): string | undefined => {
  const [key, ...others] = headerValues(event, 'idempotency-key');
  if (key === undefined) return undefined;
  if (others.length > 0) throw errors.invalidRequest('Idempotency-Key must not be repeated.');
  if (idempotencyKeyPattern.test(key)) return key;
  throw errors.invalidRequest(
    `Idempotency-Key must be 1 to ${maxIdempotencyKeyLength} visible ASCII characters, without spaces.`,
  );
};

import * as v from 'valibot';
import { idempotencyKeyPattern, maxIdempotencyKeyLength } from './limits.ts';

/** The value of an `Idempotency-Key`. */
export const IdempotencyKey = v.message(
  v.pipe(
    v.string(),
    v.metadata({ maxLength: maxIdempotencyKeyLength }),
    v.regex(idempotencyKeyPattern),
  ),
  `must be 1 to ${maxIdempotencyKeyLength} visible ASCII characters, without spaces`,
);

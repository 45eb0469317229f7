/**
 * Maximum size of a body, in bytes. A pet with the longest name takes about 3 KB if
 * every character is escaped.
 */
export const maxBodyBytes = 8_192;

/** Maximum length of `Content-Type`, in characters. */
export const maxContentTypeLength = 255;

/** Matches an `Idempotency-Key`, which is 1 to 255 visible ASCII characters. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

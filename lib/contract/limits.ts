/** The largest body that is read, in bytes; a pet of the longest name takes about 3 KB when fully escaped. */
export const maxBodyBytes = 8_192;

/** The longest `Content-Type` that is read, in characters. */
export const maxContentTypeLength = 255;

/** An `Idempotency-Key`: 1 to 255 visible ASCII characters. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

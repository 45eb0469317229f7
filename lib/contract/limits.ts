/** Maximum size of a body, in bytes. It has room for a pet with the longest texts, all of them escaped. */
export const maxBodyBytes = 8_192;

/**
 * API Gateway's limit of the request line and the headers together, in bytes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export const maxHeaderBytes = 10_240;

/** Maximum length of `Content-Type`, in characters. */
export const maxContentTypeLength = 255;

/** Maximum length of an `Idempotency-Key`, in characters. */
export const maxIdempotencyKeyLength = 255;

/** Matches an `Idempotency-Key`: visible ASCII characters. */
export const idempotencyKeyPattern = new RegExp(`^[!-~]{1,${maxIdempotencyKeyLength}}$`);

/**
 * Writes an integer with a comma between thousands. `toLocaleString` would load ICU's data, which takes 115
 * million instructions.
 */
export const withCommas = (integer: number): string =>
  `${integer}`.replaceAll(/\B(?=(\d{3})+$)/g, ',');

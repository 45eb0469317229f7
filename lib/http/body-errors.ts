import { type ApiError, errors } from '../contract/errors.ts';
import { notKnown } from '../contract/requests.ts';

/** The error for a body that is not JSON, or is nested too deeply to parse. */
export const notJson = (): ApiError => errors.invalidRequest('The body is not valid JSON.');

/**
 * What a client sees of an error of Middy's JSON parser; `undefined` for any other. Its `cause.data` is a forbidden key,
 * or the whole body if there is a `cause.message`.
 */
export const parserError = (thrown: unknown): ApiError | undefined => {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('package' in cause)) return undefined;
  if (cause.package !== '@middy/http-json-body-parser') return undefined;
  return 'message' in cause || !('data' in cause)
    ? notJson()
    : errors.invalidRequest(`${notKnown('field', `${cause.data}`)}.`);
};

import { isRetryable } from '../aws/call-dynamodb.ts';
import { ApiError, errors, notKnown } from '../contract/errors.ts';
import type { ChainRequest } from './request.ts';
import { json } from './response.ts';

/**
 * Converts whatever was thrown into an Error body, and into the `ApiError` that the rest of the chain sees.
 */
export const errorResponses = () => ({
  onError: (request: ChainRequest) => {
    const error = toApiError(request.error);
    request.error = error;
    request.response = json(error.status, error.body, error.headers);
  },
});

const toApiError = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  if (isRetryable(thrown)) return errors.serviceUnavailable(thrown);
  return parserError(thrown) ?? errors.internalError(thrown);
};

/** Returns the error for a body that is not JSON, or that is nested too deeply to parse. */
export const notJson = (): ApiError =>
  errors.invalidRequest('The body is not valid JSON, or is nested too deeply.');

/**
 * Converts an error of Middy's JSON parser. Its `cause.data` is a forbidden key, or the whole body if
 * there is a `cause.message`.
 */
const parserError = (thrown: unknown): ApiError | undefined => {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('package' in cause)) return undefined;
  if (cause.package !== '@middy/http-json-body-parser') return undefined;
  return 'message' in cause || !('data' in cause)
    ? notJson()
    : errors.invalidRequest(`${notKnown('field', `${cause.data}`)}.`);
};

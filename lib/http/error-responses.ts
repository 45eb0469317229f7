import { isRetryable } from '../aws/retryable.ts';
import { ApiError, errors } from '../contract/errors.ts';
import { parserError } from './body-errors.ts';
import type { ChainRequest } from './operation-request.ts';
import { json } from './response.ts';

/** Turns what was thrown into an Error body, and into the `ApiError` that the rest of the chain sees. */
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

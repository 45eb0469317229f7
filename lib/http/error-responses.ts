import { isRetryable } from '../aws/call-dynamodb.ts';
import { ApiError, errors } from '../contract/errors.ts';
import type { ChainRequest } from './chain-types.ts';
import { failure } from './response.ts';

/**
 * Converts whatever was thrown into an Error body, and into the `ApiError` that the rest of the chain sees.
 */
export const errorResponses = () => ({
  onError: (request: ChainRequest) => {
    const error = toApiError(request.error);
    request.error = error;
    request.response = failure(error);
  },
});

const toApiError = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  if (isRetryable(thrown)) return errors.serviceUnavailable(thrown);
  return errors.internalError(thrown);
};

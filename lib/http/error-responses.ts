import { isRetryable } from '../retryable.ts';
import { ApiError, errors } from './api-error.ts';
import { json } from './json.ts';
import { logFailure } from './log.ts';
import type { OperationRequest } from './operation-request.ts';

/** Turns whatever was thrown into an Error body; a failure of the service itself (5xx) is logged. */
export const errorResponses = (operationName: string) => ({
  onError: (request: OperationRequest) => {
    const error = toApiError(request.error);
    if (error.status >= 500) logFailure(operationName, request.context.awsRequestId, error);
    request.response = json(error.status, error.body, error.headers);
  },
});

const toApiError = (thrown: unknown): ApiError => {
  if (thrown instanceof ApiError) return thrown;
  return isRetryable(thrown) ? errors.serviceUnavailable(thrown) : errors.internalError(thrown);
};

import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { SdkError } from '@smithy/types';

/**
 * Tells whether a retry may succeed, because DynamoDB throttled the call, failed, could not be
 * reached or was too slow.
 */
export const isRetryable = (thrown: unknown): boolean => {
  if (!isError(thrown)) return false;
  try {
    return (
      thrown.name === 'AbortError' ||
      isThrottlingError(thrown) ||
      isTransientError(thrown) ||
      isServerError(thrown)
    );
  } catch {
    // The SDK's functions fail on a cause that is `null`, which no error of the SDK has.
    return false;
  }
};

/** Tells whether DynamoDB throttled a call. */
export const isThrottled = (thrown: unknown): boolean =>
  isError(thrown) && isThrottlingError(thrown);

/**
 * Narrows the type to the SDK's error type, which only adds optional fields. The SDK's
 * own functions check those.
 */
const isError = (thrown: unknown): thrown is SdkError => thrown instanceof Error;

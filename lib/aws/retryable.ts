import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { SdkError } from '@smithy/types';

/** Whether a retry may succeed: DynamoDB throttled, failed, was out of reach or too slow. */
export const isRetryable = (thrown: unknown): boolean =>
  isError(thrown) &&
  (thrown.name === 'AbortError' ||
    isThrottlingError(thrown) ||
    isTransientError(thrown) ||
    isServerError(thrown));

/** Whether DynamoDB throttled a call. */
export const isThrottled = (thrown: unknown): boolean =>
  isError(thrown) && isThrottlingError(thrown);

/** The SDK's error type only adds optional fields, which its own functions check. */
const isError = (thrown: unknown): thrown is SdkError => thrown instanceof Error;

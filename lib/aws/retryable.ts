import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { SdkError } from '@smithy/types';

/** An answer that can't be DynamoDB's answer to the call. */
export class ImplausibleAnswer extends Error {
  /** The SDK's mark of an error that a retry may fix. */
  readonly $retryable = {};
  override readonly message = "The answer can't be that of the call";
}

/**
 * Tells whether a retry may succeed: DynamoDB throttled the call, failed, could not be reached, was too slow,
 * or its answer could not be read.
 */
export const isRetryable = (thrown: unknown): boolean => {
  if (!isError(thrown)) return false;
  try {
    return (
      isThrottlingError(thrown) ||
      isTransientError(thrown) ||
      isServerError(thrown) ||
      mayPass(thrown)
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
 * Tells whether a retry may fix a failure that the SDK takes as final: one of TLS, of Node's HTTP parser or
 * of reading the answer, an error answer without a type, or expired credentials. An error of a call has
 * `$metadata`. Another one is a defect, such as an item that can't be marshalled.
 */
const mayPass = ({ name, $metadata, $fault }: SdkError): boolean =>
  $metadata !== undefined &&
  ($fault === undefined || name === 'Unknown' || name === 'ExpiredTokenException');

/**
 * Narrows the type to the SDK's error type, which only adds optional fields. The SDK's
 * own functions check those.
 */
const isError = (thrown: unknown): thrown is SdkError => thrown instanceof Error;

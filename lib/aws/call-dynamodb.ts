import type {
  DynamoDBDocumentClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/lib-dynamodb';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { Command, SdkError } from '@smithy/types';
import { nameFailedCall } from '../telemetry/cause.ts';
import { elapsedMs, instantMs, isPast } from '../telemetry/elapsed-ms.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';
import type { RequestLog } from '../telemetry/request-log.ts';
import { dynamodb } from './dynamodb.ts';

const maxAttempts = 3;

/** The time limit of an attempt, from connecting to the last byte of the response, in ms. */
const attemptMs = 1_000;

/**
 * Returns the pause after an attempt in ms, with full jitter: up to 50 ms after the first attempt, and up to
 * 100 ms after the second. The SDK's own pause after a throttle takes seconds.
 */
const backoffMs = (attempt: number) => Math.random() * 25 * 2 ** attempt;

/** The request that a call is made for. */
export interface CallContext {
  /** When the call ends at the latest, an instant of `instantMs`. */
  readonly deadline: number;
  /** The log of the request, which gets the call's latency and the ids of corrupt items. */
  readonly log: Pick<RequestLog, 'addCorruptItem' | 'addDynamodbLatency'>;
}

/** A command of the document client. */
type DynamodbCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = Command<
  ServiceInputTypes,
  Input,
  ServiceOutputTypes,
  Output,
  DynamoDBDocumentClientResolvedConfig
>;

/**
 * Sends a command with `withRetries`. An output that `isPlausible` refuses can't be that of the command, and
 * counts as a failed attempt. Throws the SDK's errors, or that of `implausibleOutput`.
 */
export const callDynamodb = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  call: string,
  command: DynamodbCommand<Input, Output>,
  context: CallContext,
  isPlausible: (output: Output) => boolean = () => true,
): Promise<Output> =>
  withRetries(call, context, async (abortSignal) => {
    const output = await dynamodb.send(command, { abortSignal });
    if (!isPlausible(output)) throw implausibleOutput();
    return output;
  });

/**
 * Runs an attempt to call DynamoDB, numbered from 1, until one succeeds or the deadline passes: up to 3
 * attempts of at most 1 s each, with a pause between them. Throws the error of the last attempt, or one that
 * no retry may fix. The log line of a failed request has the text `call`: AWS's name of the action, and our
 * own word for the resource, as in `Query pets`. It must have no name of a table, and nothing of a client.
 */
export const withRetries = async <Result>(
  call: string,
  { deadline, log }: CallContext,
  send: (signal: AbortSignal, attempt: number) => Promise<Result>,
): Promise<Result> => {
  const startedAt = instantMs();
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const limitMs = Math.min(attemptMs, deadline - instantMs());
        return await attemptWithin(limitMs, (signal) => send(signal, attempt));
      } catch (error) {
        if (isPast(deadline) || attempt === maxAttempts || !isRetryable(error)) throw error;
      }
      await pause(backoffMs(attempt));
    }
  } catch (error) {
    nameFailedCall(error, call);
    throw error;
  } finally {
    log.addDynamodbLatency(elapsedMs(startedAt));
  }
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes an attempt whose signal aborts after a time limit in ms. Then throws a `TimeoutError`. */
const attemptWithin = async <Result>(
  ms: number,
  send: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  if (ms <= 0) throw timeoutError();
  // `AbortSignal.timeout` would keep the signals of attempts that have ended.
  const controller = new AbortController();
  // Node.js leaves out fractions, and its timers may end a millisecond early.
  const timer = setTimeout(() => controller.abort(timeoutError()), Math.ceil(ms) + 1);
  try {
    return await send(controller.signal);
  } catch (error) {
    // What the SDK throws after an abort only says that something was aborted.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

/** Creates an error with the name of the SDK's own time-out errors. */
const timeoutError = () => Object.assign(new Error('The time is up'), { name: 'TimeoutError' });

/** Creates the error of an output that can't be that of the call. Because of `$retryable`, it is retried. */
export const implausibleOutput = () =>
  Object.assign(new LoggableError("The output can't be that of the call"), { $retryable: {} });

/**
 * Tells whether a retry may succeed: DynamoDB throttled the call, failed, could not be reached, was too slow,
 * or its response could not be read.
 */
export const isRetryable = (thrown: unknown): boolean =>
  isError(thrown) &&
  (isThrottlingError(thrown) ||
    isTransientError(thrown) ||
    isServerError(thrown) ||
    isOtherTransientError(thrown));

/**
 * Tells whether a retry may fix a failure that the SDK takes as final: one of TLS, of Node's HTTP parser or
 * of reading the response, an error without a type, or expired credentials. An error of a call has
 * `$metadata`. Another one is a defect, such as an item that can't be marshalled.
 */
const isOtherTransientError = ({ name, $metadata, $fault }: SdkError): boolean =>
  $metadata !== undefined &&
  ($fault === undefined || name === 'Unknown' || name === 'ExpiredTokenException');

/**
 * Narrows the type to the SDK's error type, which only adds optional fields. The SDK's own functions check
 * those, but fail on a cause that is `null`, which no error of the SDK has.
 */
const isError = (thrown: unknown): thrown is SdkError =>
  thrown instanceof Error && thrown.cause !== null;

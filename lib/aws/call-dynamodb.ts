import type {
  DynamoDBDocumentClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/lib-dynamodb';
import type { Command } from '@smithy/types';
import { elapsedMs, instantMs } from '../telemetry/elapsed-ms.ts';
import { metricNames } from '../telemetry/metric-names.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import { dynamodb } from './dynamodb.ts';
import { ImplausibleAnswer, isRetryable, isThrottled } from './retryable.ts';
import { withTimeLimit } from './time-limit.ts';

const maxAttempts = 3;

/** The time limit of an attempt, from connecting to the last byte of the answer, in ms. */
const attemptMs = 1_000;

/**
 * Returns the pause after an attempt in ms, with full jitter: up to 50 ms after the first attempt, and up to
 * 100 ms after the second. The SDK's own pause after a throttle takes seconds.
 */
const backoffMs = (attempt: number) => Math.random() * 25 * 2 ** attempt;

/** The request that a call is made for. */
export interface CallContext {
  /** A signal that aborts the call. */
  readonly signal: AbortSignal;
  /** Records the call's latency, its throttled attempts, and the ids of corrupt items. */
  readonly record: Pick<RequestRecord, 'count' | 'noteCorruptItem' | 'recordDynamodbLatency'>;
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
 * Sends a command with `withRetries`. An answer that `isPlausible` refuses can't be that of the command, and
 * counts as a failed attempt. Throws the SDK's errors, or an `ImplausibleAnswer`.
 */
export const callDynamodb = <Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  command: DynamodbCommand<Input, Output>,
  context: CallContext,
  isPlausible: (answer: Output) => boolean = () => true,
): Promise<Output> =>
  withRetries(context, async (abortSignal) => {
    const answer = await dynamodb.send(command, { abortSignal });
    if (!isPlausible(answer)) throw new ImplausibleAnswer();
    return answer;
  });

/**
 * Runs an attempt to call DynamoDB, numbered from 1, until one succeeds: up to 3 attempts of at most 1 s
 * each, with a pause between them. Throws the error of the last attempt, or one that no retry may fix.
 */
export const withRetries = async <Result>(
  { signal, record }: CallContext,
  send: (signal: AbortSignal, attempt: number) => Promise<Result>,
): Promise<Result> => {
  const startedAt = instantMs();
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await withTimeLimit(attemptMs, signal, (limited) => send(limited, attempt));
      } catch (error) {
        if (isThrottled(error)) record.count(metricNames.throttles);
        if (signal.aborted || attempt === maxAttempts || !isRetryable(error)) throw error;
      }
      await pause(backoffMs(attempt));
    }
  } finally {
    record.recordDynamodbLatency(elapsedMs(startedAt));
  }
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

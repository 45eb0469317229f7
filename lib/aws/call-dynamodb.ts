import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
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
import { isThrottled } from './retryable.ts';

/** The request that a call is made for. */
export interface CallContext {
  /** A signal that aborts the call. */
  readonly signal: AbortSignal;
  /** Records the call's latency, its throttled attempts, and the ids of corrupt items. */
  readonly record: Pick<RequestRecord, 'count' | 'noteCorruptItem' | 'recordDynamodbLatency'>;
}

/**
 * Sends a command of the document client, in up to 3 attempts of at most 1 s each. An attempt also
 * fails, and is retried, when `check` throws for its answer. Throws the SDK's errors, or the last
 * error that `check` threw.
 */
export const callDynamodb = async <
  Input extends ServiceInputTypes,
  Output extends ServiceOutputTypes,
>(
  command: Command<
    ServiceInputTypes,
    Input,
    ServiceOutputTypes,
    Output,
    DynamoDBDocumentClientResolvedConfig
  >,
  { signal, record }: CallContext,
  check?: (answer: Output) => void,
): Promise<Output> => {
  command.middlewareStack.add(
    (next) => async (args) => {
      try {
        const result = await next(args);
        check?.(result.output);
        return result;
      } catch (error) {
        if (isThrottled(error)) record.count(metricNames.throttles);
        if (error instanceof Error && mayPass(error)) Object.assign(error, { $retryable: {} });
        throw error;
      }
    },
    // This runs inside the SDK's retries, around each attempt. `override` is set because the document client
    // adds a command's middleware twice.
    { name: 'inspectAttempt', step: 'finalizeRequest', priority: 'low', override: true },
  );
  const startedAt = instantMs();
  try {
    return await dynamodb.send(command, { abortSignal: signal });
  } finally {
    record.recordDynamodbLatency(elapsedMs(startedAt));
  }
};

/**
 * Tells whether a retry may fix a failure that the SDK takes as final: one of TLS, of Node's HTTP parser or
 * of `check`, or expired credentials.
 */
const mayPass = (error: Error) =>
  !(error instanceof DynamoDBServiceException) || error.name === 'ExpiredTokenException';

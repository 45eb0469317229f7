import { timeoutError } from '../aws/call-dynamodb.ts';
import { errors } from '../contract/errors.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';
import type { RequestWith } from './chain-types.ts';

/** The time reserved for the response before Lambda ends the invocation, in ms. */
const marginMs = 500;

/**
 * The time for all DynamoDB calls of a request together, in ms. During a lasting fault, a
 * client gets a 503 within 4 s.
 */
const callsMs = 3_500;

/** What the middleware adds to the context. */
export interface Deadline {
  /** A signal that aborts every call that would outlast the invocation. */
  signal: AbortSignal;
  /** The timer of `signal`. */
  deadline: NodeJS.Timeout;
}

/**
 * Limits the time of all calls of an invocation by `context.signal`. Throws `service_unavailable` when
 * too little time is left.
 */
export const deadline = () => {
  const clear = ({ context }: RequestWith<Deadline>) => clearTimeout(context.deadline);
  return {
    before: ({ context }: RequestWith<Deadline>) => {
      const remainingMs = context.getRemainingTimeInMillis() - marginMs;
      if (remainingMs <= 0)
        throw errors.serviceUnavailable(new LoggableError('Too little time is left'));
      const controller = new AbortController();
      context.signal = controller.signal;
      // `AbortSignal.timeout` would keep the signals of requests that have ended.
      const end = () => controller.abort(timeoutError());
      context.deadline = setTimeout(end, Math.min(remainingMs, callsMs));
    },
    after: clear,
    onError: clear,
  };
};

import { instantMs } from '../telemetry/elapsed-ms.ts';
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
  /** When all calls of the request end at the latest, an instant of `instantMs`. */
  deadline: number;
}

/**
 * Limits the time of all calls of an invocation by `context.deadline`. A call that begins after it fails, and
 * DynamoDB gets nothing.
 */
export const deadline = () => ({
  before: ({ context }: RequestWith<Deadline>) => {
    const remainingMs = context.getRemainingTimeInMillis() - marginMs;
    context.deadline = instantMs() + Math.min(remainingMs, callsMs);
  },
});

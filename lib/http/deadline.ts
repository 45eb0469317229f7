import { errors } from '../contract/errors.ts';
import type { OperationRequest } from './operation-request.ts';

/** Time kept back to answer before Lambda ends the invocation, in ms. */
const marginMs = 500;

/**
 * Bounds every call of the invocation by its remaining time, as `context.signal`.
 * Throws `service_unavailable` when too little of it is left to start anything.
 */
export const deadline = () => {
  const clear = ({ context }: OperationRequest) => clearTimeout(context.deadline);
  return {
    before: ({ context }: OperationRequest) => {
      const remainingMs = context.getRemainingTimeInMillis() - marginMs;
      if (remainingMs <= 0) throw errors.serviceUnavailable(new Error('Too little time is left'));
      const controller = new AbortController();
      context.signal = controller.signal;
      // Not `AbortSignal.timeout`, which keeps the signals of requests that have long been answered.
      context.deadline = setTimeout(() => controller.abort(), remainingMs);
    },
    after: clear,
    onError: clear,
  };
};

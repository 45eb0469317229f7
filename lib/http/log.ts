import { Logger } from '@aws-lambda-powertools/logger';
import type { ApiError } from './api-error.ts';

const logger = new Logger();

/**
 * Logs that a request failed for a reason of the service's own, as one JSON line. Of the cause it keeps the kind
 * and the place: messages and stacks of libraries can hold table names, keys and clients' data.
 */
export const logFailure = (
  operation: string,
  requestId: string,
  { code, cause }: ApiError,
): void => {
  logger.error('The request failed', {
    operation,
    requestId,
    code,
    cause: kindOf(cause),
  });
};

const kindOf = (cause: unknown) =>
  cause instanceof Error ? { name: cause.name, thrownAt: placeOf(cause) } : { name: typeof cause };

/** File, line and column of the frame that threw, such as `get-pet.cjs:1:4711`; the message before it is left out. */
const placeOf = ({ stack = '', message }: Error) =>
  /^ {4}at .*?([\w.-]+:\d+:\d+)\)?$/m.exec(stack.replace(message, ''))?.[1];

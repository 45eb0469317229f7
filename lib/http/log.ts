import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { elapsedMs } from '../elapsed-ms.ts';
import { ApiError } from './api-error.ts';
import type { OperationRequest } from './operation-request.ts';

/** Leaves out the trace id, which Powertools would add: a client can send one, of any text. */
class RequestFormatter extends LogFormatter {
  formatAttributes(
    { logLevel, message, timestamp, serviceName }: UnformattedAttributes,
    fields: LogAttributes,
  ) {
    return new LogItem({
      attributes: {
        level: logLevel,
        message,
        timestamp: timestamp.toISOString(),
        service: serviceName,
        ...fields,
      },
    });
  }
}

const logger = new Logger({ logFormatter: new RequestFormatter() });

let coldStart = true;

/**
 * Logs a request and its outcome as one JSON line: level INFO, or ERROR for a failure of the service itself (5xx) with
 * its cause. But for the public id of the key, nothing that a client sent is in it, nor a library's text, which can repeat that.
 */
export const logRequest = (
  operation: string,
  status: number,
  { event, context, error }: OperationRequest,
): void => {
  const line = {
    operation,
    status,
    code: error instanceof ApiError ? error.code : undefined,
    durationMs: elapsedMs(context.startedAt),
    keyId: context.keyId,
    requestId: gatewayIdOf(event.requestContext.requestId),
    lambdaRequestId: context.awsRequestId,
    coldStart,
  };
  coldStart = false;
  if (status < 500) logger.info('The request was answered', line);
  else logger.error('The request failed', { ...line, cause: kindOf(error) });
};

/** A client can choose the request id by a header of its own, so only one that looks like API Gateway's is logged. */
const gatewayIdOf = (requestId: string) =>
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(requestId) ? requestId : undefined;

/** What was thrown underneath, by its kind and place. */
const kindOf = (error: unknown) => {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof Error
    ? { name: cause.name, thrownAt: placeOf(cause) }
    : { name: typeof cause };
};

/** File, line and column of the frame that threw, such as `get-pet.cjs:1:4711`; the message before it is left out. */
const placeOf = ({ stack = '', message }: Error) =>
  /^ {4}at .*?([\w.-]+:\d+:\d+)\)?$/m.exec(stack.replace(message, ''))?.[1];

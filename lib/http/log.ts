import { LogFormatter, Logger, LogItem, LogLevelThreshold } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { elapsedMs } from '../aws/elapsed-ms.ts';
import { ApiError } from '../contract/errors.ts';
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

/** Hands its lines over instead of printing them, for a request's log and metrics are written at once. */
class RequestLogger extends Logger {
  /** The members of a line; `undefined` below the level of the stage. */
  line(level: 'INFO' | 'ERROR', message: string, fields: LogAttributes): LogAttributes | undefined {
    const threshold = LogLevelThreshold[level];
    if (threshold < this.level) return undefined;
    return this.createAndPopulateLogItem(threshold, message, [fields]).getAttributes();
  }
}

const logger = new RequestLogger({ logFormatter: new RequestFormatter() });

let coldStart = true;

/**
 * What the log says of a request and its outcome: level INFO, or ERROR for a failure of the service itself (5xx) with
 * its cause. But for the public id of the key, nothing that a client sent is in it, nor a library's text, which can repeat that.
 */
export const logLine = (
  operation: string,
  status: number,
  { event, context, error }: OperationRequest,
): LogAttributes | undefined => {
  const fields = {
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
  return status < 500
    ? logger.line('INFO', 'The request was answered', fields)
    : logger.line('ERROR', 'The request failed', { ...fields, cause: kindOf(error) });
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

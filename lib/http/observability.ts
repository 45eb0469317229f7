import { ApiError, errors } from '../contract/errors.ts';
import { causeOf } from '../telemetry/cause.ts';
import { elapsedMs, instantMs } from '../telemetry/elapsed-ms.ts';
import { LoggableError } from '../telemetry/loggable-error.ts';
import { metricNames, versionMetricNames } from '../telemetry/metric-names.ts';
import { RequestLog } from '../telemetry/request-log.ts';
import type { ChainRequest } from './chain-types.ts';
import { failure } from './response.ts';

let coldStart = true;

/**
 * Writes one log line for each request, with level ERROR and the cause for a 5xx. It is the outermost
 * middleware. The line has no client input except the key's public id, and no text of a library, which
 * can repeat client input.
 */
export const observability = (functionName: string) => {
  const observe = ({ event, context, response, error }: ChainRequest) => {
    // When a function fails, API Gateway uses INTEGRATION_FAILURE (DataBiosphere/azul#6624), to which
    // infra/constructs/service-api.ts gives this status.
    const status = response?.statusCode ?? 503;
    const failed = status >= 500;
    const durationMs = elapsedMs(context.startedAt);
    countResponse(context.log, status);
    // JSON leaves out fields that are `undefined`.
    context.log.write({
      level: failed ? 'ERROR' : 'INFO',
      message: failed ? 'The request failed' : 'The request was handled',
      operation: functionName,
      status,
      durationMs,
      timestamp: new Date().toISOString(),
      code: error instanceof ApiError ? error.code : undefined,
      keyId: context.keyId,
      // The client gets it as `x-amz-apigw-id`, and can't choose it, unlike `requestId`. An event of another
      // kind has no such context.
      // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
      extendedRequestId: event?.requestContext?.extendedRequestId,
      lambdaRequestId: context.awsRequestId,
      coldStart,
      cause: failed ? originalCause(error) : undefined,
      [versionMetricNames.latency]: durationMs,
    });
    coldStart = false;
  };
  return {
    before: (request: ChainRequest) => {
      request.context.startedAt = instantMs();
      request.context.log = new RequestLog();
      // Events of other services, and of tests in the console, have no such context.
      const event: Partial<ChainRequest['event']> | null = request.event;
      if (event?.requestContext?.identity !== undefined) return undefined;
      const error = errors.internalError(new LoggableError('The event is not that of a REST API'));
      request.error = error;
      request.response = failure(error);
      // An early response skips the rest of the chain.
      observe(request);
      return request.response;
    },
    after: observe,
    onError: observe,
  };
};

const countResponse = (log: RequestLog, status: number) => {
  log.count(metricNames.requests);
  if (status >= 500) log.count(metricNames.serverErrors);
  else if (status >= 400) log.count(metricNames.clientErrors);
  if (status === 401) log.count(metricNames.authFailures);
};

/** Describes the original error. An error that became a 503 is a fault of DynamoDB, not a defect. */
const originalCause = (error: unknown) =>
  error instanceof ApiError
    ? causeOf(error.cause, error.code !== 'service_unavailable')
    : causeOf(error, true);

import { ApiError, errors } from '../contract/errors.ts';
import { optionalEnvironment } from '../environment.ts';
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
  const observe = (request: ChainRequest) => {
    // When a function fails, API Gateway uses INTEGRATION_FAILURE (DataBiosphere/azul#6624), to which
    // infra/constructs/pets-api.ts gives this status.
    const status = request.response?.statusCode ?? 503;
    const failed = status >= 500;
    const durationMs = elapsedMs(request.context.startedAt);
    const { log } = request.context;
    countResponse(log, status);
    log.write({
      level: failed ? 'ERROR' : 'INFO',
      message: failed ? 'The request failed' : 'The request was handled',
      operation: functionName,
      status,
      ...requestDetails(request, durationMs),
      cause: failed ? originalCause(request.error) : undefined,
      [versionMetricNames.latency]: durationMs,
    });
    coldStart = false;
  };
  return {
    before: (request: ChainRequest) => {
      request.context.startedAt = instantMs();
      request.context.log = new RequestLog();
      if (isFromRestApi(request.event)) return undefined;
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

/** Tells whether an event is one of a REST API, and not another service's or a test's of the console. */
const isFromRestApi = (event: Partial<ChainRequest['event']> | null): boolean =>
  event?.requestContext?.identity !== undefined;

const countResponse = (log: RequestLog, status: number) => {
  log.count(metricNames.requests);
  if (status >= 500) log.count(metricNames.serverErrors);
  else if (status >= 400) log.count(metricNames.clientErrors);
  if (status === 401) log.count(metricNames.authFailures);
};

/**
 * JSON leaves out members that are `undefined`. API Gateway sends its `extendedRequestId` to the client as
 * `x-amz-apigw-id`. A client can choose `requestId`, but not this id.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const requestDetails = ({ event, context, error }: ChainRequest, durationMs: number) => ({
  durationMs,
  timestamp: new Date().toISOString(),
  code: error instanceof ApiError ? error.code : undefined,
  keyId: context.keyId,
  // An event of another kind has no context, or another one.
  extendedRequestId: event?.requestContext?.extendedRequestId,
  lambdaRequestId: context.awsRequestId,
  coldStart,
  ...(coldStart && {
    codeCache: optionalEnvironment('CODE_CACHE'),
    nodeVersion: process.version,
  }),
});

/** Describes the original error. An error that became a 503 is a fault of DynamoDB, not a defect. */
const originalCause = (error: unknown) =>
  error instanceof ApiError
    ? causeOf(error.cause, error.code !== 'service_unavailable')
    : causeOf(error, true);

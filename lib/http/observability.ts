import { metricNames } from '../metric-names.ts';
import { count, publishMetrics } from '../metrics.ts';
import { logRequest } from './log.ts';
import type { OperationRequest } from './operation-request.ts';

/** What API Gateway answers when a function fails to. */
const badGateway = 502;

/** Writes one log line and one line of metrics for each request. Outermost, for it tells what was answered in the end. */
export const observability = (operationName: string) => {
  const observe = (request: OperationRequest) => {
    const status = request.response?.statusCode ?? badGateway;
    logRequest(operationName, status, request);
    count(metricNames.requests);
    if (status >= 500) count(metricNames.serverErrors);
    else if (status >= 400) count(metricNames.clientErrors);
    if (status === 401) count(metricNames.authFailures);
    publishMetrics(operationName);
  };
  return {
    before: ({ context }: OperationRequest) => {
      context.startedAt = performance.now();
    },
    after: observe,
    onError: observe,
  };
};

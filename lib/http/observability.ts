import { instantMs } from '../aws/elapsed-ms.ts';
import { count, metricsLine } from '../aws/metrics.ts';
import { metricNames } from '../contract/metric-names.ts';
import { logLine } from './log.ts';
import type { OperationRequest } from './operation-request.ts';

/** What API Gateway answers when a function fails to. */
const badGateway = 502;

/** Writes one log line and one line of metrics for each request. Outermost, for it tells what was answered in the end. */
export const observability = (operationName: string) => {
  const observe = (request: OperationRequest) => {
    const status = request.response?.statusCode ?? badGateway;
    count(metricNames.requests);
    if (status >= 500) count(metricNames.serverErrors);
    else if (status >= 400) count(metricNames.clientErrors);
    if (status === 401) count(metricNames.authFailures);
    print([logLine(operationName, status, request), metricsLine(operationName)]);
  };
  return {
    before: ({ context }: OperationRequest) => {
      context.startedAt = instantMs();
    },
    after: observe,
    onError: observe,
  };
};

/** Each line is an event in the log, however many are written at once. */
const print = (lines: readonly (object | undefined)[]) => {
  const texts = lines.map((line) => (line ? `${JSON.stringify(line)}\n` : ''));
  process.stdout.write(texts.join(''));
};

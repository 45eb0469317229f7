import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { proxyEvent as gatewayEvent, newRequestIds } from '../../lib/api-gateway/proxy-event.ts';

/** Headers or query parameters; a name may have several values, or none. */
export type Values = Readonly<Record<string, string | readonly string[]>>;

export interface EventParts {
  /** A client may choose it. */
  readonly requestId?: string;
  readonly method?: string;
  readonly resource?: string;
  readonly petId?: string;
  readonly headers?: Values;
  readonly query?: Values;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** The extended request id of every event. */
export const extendedRequestId = 'ATfSdF7nPHcErRA=';

/** The proxy event that a REST API sends for a request, as the local gateway builds it. */
export const proxyEvent = (parts: EventParts): APIGatewayProxyEvent => {
  const ids = newRequestIds();
  const { requestId = ids.requestId, method = 'GET', resource = resourceOf(parts), petId } = parts;
  const { headers = {}, query = {}, body = '', isBase64Encoded = false } = parts;
  const path = resource.replace('{petId}', petId ?? '');
  const request = {
    ...ids,
    requestId,
    extendedRequestId,
    method,
    path: `/v1${path}`,
    query: `${new URLSearchParams(pairsOf(query))}`,
    headers: pairsOf(headers),
    port: 443,
  };
  const pathParameters = petId === undefined ? {} : { petId };
  const api = { accountId: '123456789012', apiId: 'test' };
  const target = { api, stage: 'v1', path, resourcePath: resource, pathParameters };
  const event = gatewayEvent(request, target, body);
  return { ...event, isBase64Encoded };
};

/** The path of a pet if there is an id, otherwise that of the list. */
export const resourceOf = ({ petId }: EventParts) =>
  petId === undefined ? '/pets' : '/pets/{petId}';

/** One pair for each value of a name. */
const pairsOf = (values: Values) =>
  Object.entries(values).flatMap(([name, given]) =>
    [given].flat().map((value): [string, string] => [name, value]),
  );

/** Lambda's context with `remainingMs` left. */
export const lambdaContext = (awsRequestId: string, remainingMs = 10_000): Context => {
  const deadline = Date.now() + remainingMs;
  return {
    awsRequestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: 'test',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:test',
    memoryLimitInMB: '1024',
    logGroupName: 'test',
    logStreamName: 'test',
    getRemainingTimeInMillis: () => deadline - Date.now(),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
};

import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { localAccount } from '../local-account.ts';
import type { RouteMatch } from './router.ts';

/** What an event holds of the route of its request. */
export interface EventRoute extends Pick<RouteMatch, 'pathParameters'> {
  readonly route: Pick<RouteMatch['route'], 'resourcePath'>;
}

/** A request as the gateway received it. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly extendedRequestId: string;
  readonly traceId: string;
  readonly method: string;
  /** With the stage, percent-encoded as it came. */
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
  readonly port: number;
  readonly protocol: string;
}

/** Headers that API Gateway drops (row 22 of aws-recorded.md), and Keep-Alive, which belongs to a connection. */
const leftOut =
  /^(connection|content-length|content-md5|expect|keep-alive|max-forwards|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate)$/i;

/** Headers that API Gateway sets itself. */
const own = /^x-(forwarded-(for|port|proto)|amzn-trace-id)$/i;

/** All values of a header in the order in which they came. */
export const headerValuesOf = ({ headers }: Pick<GatewayRequest, 'headers'>, name: string) =>
  headers.filter(([given]) => given.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

/** The header pairs of a request, names in the client's case, none merged or left out. */
export const headersOf = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>) => {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  }
  return pairs;
};

/**
 * The event that a REST API sends to a function for a request (payload format 1.0). `path` is that below the stage,
 * percent-encoded as it came.
 */
export const proxyEvent = (
  request: GatewayRequest,
  { route, pathParameters }: EventRoute,
  { stage, path }: { readonly stage: string; readonly path: string },
  body: string,
): APIGatewayProxyEvent => {
  const headers = group(forwardedHeaders(request));
  const query = group([...new URLSearchParams(request.query)]);
  return {
    resource: route.resourcePath,
    path,
    httpMethod: request.method,
    headers: lastValues(headers) ?? {},
    multiValueHeaders: headers ?? {},
    queryStringParameters: lastValues(query),
    multiValueQueryStringParameters: query,
    pathParameters: Object.keys(pathParameters).length > 0 ? { ...pathParameters } : null,
    stageVariables: null,
    requestContext: requestContext(request, route.resourcePath, stage),
    body: body === '' ? null : body,
    isBase64Encoded: false,
  };
};

const forwardedHeaders = (request: GatewayRequest): GatewayRequest['headers'] => {
  const clientAndProxies = [...headerValuesOf(request, 'x-forwarded-for'), request.sourceIp];
  return [
    ...request.headers.filter(([name]) => !own.test(name) && !leftOut.test(name)),
    ['X-Amzn-Trace-Id', request.traceId],
    ['X-Forwarded-For', clientAndProxies.join(', ')],
    ['X-Forwarded-Port', `${request.port}`],
    ['X-Forwarded-Proto', 'http'],
  ];
};

const group = (pairs: readonly (readonly [string, string])[]): Record<string, string[]> | null => {
  if (pairs.length === 0) return null;
  const byName = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(
    [...byName].map(([name, same]) => [name, same.map(([, value]) => value)]),
  );
};

const lastValues = (grouped: Record<string, string[]> | null): Record<string, string> | null =>
  grouped &&
  Object.fromEntries(Object.entries(grouped).map(([name, values]) => [name, values.at(-1) ?? '']));

const requestContext = (
  request: GatewayRequest,
  resourcePath: string,
  stage: string,
): APIGatewayProxyEvent['requestContext'] => {
  const domainName = headerValuesOf(request, 'host')[0]?.replace(/:\d+$/, '') ?? 'localhost';
  const now = new Date();
  return {
    accountId: localAccount,
    apiId: 'local',
    authorizer: null,
    domainName,
    domainPrefix: domainName.split('.')[0],
    extendedRequestId: request.extendedRequestId,
    httpMethod: request.method,
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: request.sourceIp,
      user: null,
      userAgent: headerValuesOf(request, 'user-agent')[0] ?? null,
      userArn: null,
    },
    path: request.path,
    protocol: request.protocol,
    requestId: request.requestId,
    requestTime: requestTime(now),
    requestTimeEpoch: now.getTime(),
    resourceId: 'local',
    resourcePath,
    stage,
  };
};

/** Such as `05/Dec/2030:00:00:00 +0000`. */
const requestTime = (time: Date): string => {
  const [, day, month, year, clock] = time.toUTCString().split(' ');
  return `${day}/${month}/${year}:${clock} +0000`;
};

import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type GatewayRequest, type HeaderPairs, headerValuesOf } from './gateway-request.ts';

/** The target of a request. Its path starts below the stage, and is percent-encoded as the client sent it. */
interface RequestTarget {
  /** The REST API that sends the event, and its account. */
  readonly api: { readonly accountId: string; readonly apiId: string };
  readonly stage: string;
  readonly path: string;
  readonly resourcePath: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/**
 * Headers that the event leaves out: those that API Gateway drops or sets itself, as LocalStack recorded
 * (infra/local/aws-behaviour.md), and Keep-Alive, which applies to one connection only.
 */
const leftOut =
  /^(connection|content-length|content-md5|expect|keep-alive|max-forwards|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate|x-amzn-trace-id|x-forwarded-(for|port|proto))$/i;

/** The client's address. The local gateway listens on 127.0.0.1 only. */
const sourceIp = '127.0.0.1';

/** Creates the event that a REST API sends to a function for a request (payload format 1.0). */
export const createProxyEvent = (
  request: GatewayRequest,
  target: RequestTarget,
  body: string,
): APIGatewayProxyEvent => {
  const { path, resourcePath, pathParameters } = target;
  const headers: HeaderPairs = [
    ...request.headers.filter(([name]) => !leftOut.test(name)),
    ['X-Amzn-Trace-Id', request.traceId],
    ['X-Forwarded-For', sourceIp],
    ['X-Forwarded-Port', `${request.port}`],
    ['X-Forwarded-Proto', 'http'],
  ];
  const query = [...new URLSearchParams(request.query)];
  return {
    resource: resourcePath,
    path,
    httpMethod: request.method,
    // If a name has several values, the last one is used.
    headers: Object.fromEntries(headers),
    multiValueHeaders: valuesByName(headers),
    queryStringParameters: query.length > 0 ? Object.fromEntries(query) : null,
    multiValueQueryStringParameters: query.length > 0 ? valuesByName(query) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? { ...pathParameters } : null,
    stageVariables: null,
    requestContext: requestContext(request, target),
    body: body === '' ? null : body,
    isBase64Encoded: false,
  };
};

const valuesByName = (pairs: HeaderPairs): Record<string, string[]> =>
  Object.fromEntries(
    Map.groupBy(pairs, ([name]) => name)
      .entries()
      .map(([name, same]) => [name, same.map(([, value]) => value)]),
  );

const requestContext = (
  request: GatewayRequest,
  { api, resourcePath, stage }: RequestTarget,
): APIGatewayProxyEvent['requestContext'] => {
  const domainName = headerValuesOf(request, 'host')[0]?.replace(/:\d+$/, '') ?? 'localhost';
  const now = new Date();
  const [, day, month, year, clock] = now.toUTCString().split(' ');
  return {
    accountId: api.accountId,
    apiId: api.apiId,
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
      sourceIp,
      user: null,
      userAgent: headerValuesOf(request, 'user-agent')[0] ?? null,
      userArn: null,
    },
    path: request.path,
    // HTTP/2 requests have this value too, as LocalStack and voker recorded (infra/local/aws-behaviour.md).
    protocol: 'HTTP/1.1',
    requestId: request.requestId,
    requestTime: `${day}/${month}/${year}:${clock} +0000`,
    requestTimeEpoch: now.getTime(),
    resourceId: resourcePath,
    resourcePath,
    stage,
  };
};

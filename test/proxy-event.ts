import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { OperationContext } from '../lib/http/operation-request.ts';

export interface EventParts {
  readonly method?: string;
  readonly resource?: string;
  readonly petId?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

const lastOf = (values: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(values).map(([name, given]) => [name, given.at(-1)]));

/** The proxy event that a REST API sends for a request, as far as handlers read it. */
export const proxyEvent = ({
  method = 'GET',
  resource = '/pets',
  petId,
  headers = {},
  query = {},
  body,
  isBase64Encoded = false,
}: EventParts): APIGatewayProxyEvent => {
  const path = resource.replace('{petId}', petId ?? '');
  const multiValueHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, [values].flat()]),
  );
  const multiValueQueryStringParameters = Object.fromEntries(
    Object.entries(query).map(([name, values]) => [name, [values].flat()]),
  );
  return {
    resource,
    path,
    httpMethod: method,
    headers: lastOf(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: lastOf(multiValueQueryStringParameters),
    multiValueQueryStringParameters,
    pathParameters: petId === undefined ? null : { petId },
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'test',
      authorizer: null,
      httpMethod: method,
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
        sourceIp: '127.0.0.1',
        user: null,
        userAgent: null,
        userArn: null,
      },
      path: `/v1${path}`,
      protocol: 'HTTP/1.1',
      requestId: 'request-id',
      requestTimeEpoch: 0,
      resourceId: 'resource',
      resourcePath: resource,
      stage: 'v1',
    },
    body: body ?? null,
    isBase64Encoded,
  };
};

/** Lambda's context with so much time left, in ms, with nothing of use yet where the middleware will put its own. */
export const lambdaContext = (awsRequestId: string, remainingMs = 10_000): OperationContext => {
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
    owner: 'nobody yet',
    signal: AbortSignal.abort('set by the middleware'),
  };
};

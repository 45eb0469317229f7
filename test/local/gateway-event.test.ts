import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headerValuesOf as valuesOf } from '../../lib/gateway-events/gateway-request.ts';
import { eventOf, startTestGateway } from './test-gateway.ts';

// The sources of what AWS was recorded to do are linked in infra/local/aws-behaviour.md.

const gateway = await startTestGateway();

describe('the event of a request', () => {
  it('is the one that AWS was recorded to send for the same request', async () => {
    const file = join(import.meta.dirname, 'recorded-event.json');
    const { event: recorded } = JSON.parse(await readFile(file, 'utf8'));
    const { Host, 'User-Agent': agent, 'X-Amzn-Trace-Id': traceId, ...others } = recorded.headers;
    const own = ['X-Forwarded-For', 'X-Forwarded-Port', 'X-Forwarded-Proto'];
    const sent = Object.keys(others).filter((name) => !own.includes(name));
    const response = await gateway.request(
      '/v1/capture/space%20value?literalPlus=a+b&encodedPlus=a%2Bb&repeat=one&repeat=two&empty=&redirect=https%3A%2F%2Fexample.com%2Fa%2Fb',
      {
        method: 'POST',
        headers: {
          Host,
          'User-Agent': agent,
          'X-Amzn-Trace-Id': traceId,
          ...Object.fromEntries(sent.map((name) => [name, recorded.multiValueHeaders[name]])),
        },
        body: recorded.body,
      },
    );

    // The client is this machine, which sends no TLS, to a port of its own.
    const local: Record<string, string> = {
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Port': gateway.port,
      'X-Forwarded-Proto': 'http',
    };
    const localLists = Object.fromEntries(
      Object.entries(local).map(([name, value]) => [name, [value]]),
    );
    // The recording reads null as "", and a missing certificate and operation name as empty ones.
    const { operationName: _absent, ...context } = recorded.requestContext;
    const identity = Object.fromEntries(
      Object.entries(context.identity).map(([name, value]) => [name, value === '' ? null : value]),
    );
    expect(eventOf(response)).toEqual({
      ...recorded,
      headers: { ...recorded.headers, ...local },
      multiValueHeaders: { ...recorded.multiValueHeaders, ...localLists },
      requestContext: {
        ...context,
        identity: { ...identity, clientCert: null, sourceIp: '127.0.0.1' },
        // The stage, the account and the API are others.
        stage: 'v1',
        path: context.path.replace('/live/', '/v1/'),
        accountId: expect.stringMatching(/^\d{12}$/),
        apiId: expect.any(String),
        resourceId: expect.any(String),
        requestId: valuesOf(response, 'x-amzn-requestid')[0],
        extendedRequestId: expect.stringMatching(/^.{15}=$/),
        requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        requestTimeEpoch: expect.any(Number),
      },
    });
    expect(valuesOf(response, 'x-amz-apigw-id')).toEqual([
      eventOf(response).requestContext.extendedRequestId,
    ]);
  });

  // LocalStack, aws-lambda-dotnet.
  it('has null for what is absent, and for a body of length 0', async () => {
    const empty = { method: 'POST', headers: { 'Content-Length': '0' } };
    expect(eventOf(await gateway.request('/v1/?', empty))).toMatchObject({
      path: '/',
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      stageVariables: null,
      body: null,
    });
  });

  it.each([
    // LocalStack.
    ['keeps letters as they are encoded', '/v1/pets/%C3%A9', '/pets/%C3%A9', '/v1/pets/%C3%A9'],
    ['keeps a slash at the end', '/v1/pets/7/', '/pets/7/', '/v1/pets/7/'],
    ['keeps two slashes inside', '/v1/a//b', '/a//b', '/v1/a//b'],
    ['skips a second slash after the stage', '/v1//pets', '/pets', '/v1//pets'],
    ['skips a second slash before the stage', '//v1/pets', '/pets', '/v1/pets'],
    // aws/aws-sdk-net#4473
    ['keeps an encoded slash', '/v1/pets/a%2Fb', '/pets/a%2Fb', '/v1/pets/a%2Fb'],
  ])(
    'has a path that %s: %s becomes %s, and %s in the context',
    async (_rule, sent, path, contextPath) => {
      expect(eventOf(await gateway.request(sent))).toMatchObject({
        path,
        requestContext: { path: contextPath, protocol: 'HTTP/1.1' },
      });
    },
  );

  // voker.
  it('has the query decoded once, and lists the values of a repeated name', async () => {
    const event = eventOf(await gateway.request('/v1/pets?n%61me=%C3%A9+x&flag&flag=%2520'));
    expect(event.multiValueQueryStringParameters).toEqual({ name: ['é x'], flag: ['', '%20'] });
    expect(event.queryStringParameters).toEqual({ name: 'é x', flag: '%20' });
  });

  // LocalStack. aws-lambda-dotnet: a request without a User-Agent.
  it('has header names as they were sent, and lacks the headers that API Gateway drops', async () => {
    const ofResponses = ['Proxy-Authenticate', 'Server', 'WWW-Authenticate'];
    const dropped = ['Content-MD5', 'Keep-Alive', 'Max-Forwards', 'TE', ...ofResponses];
    const sent = { aUthOrizatioN: 'Bearer x', Via: 'x' };
    const headers = { ...sent, ...Object.fromEntries(dropped.map((name) => [name, 'x'])) };
    const event = eventOf(await gateway.request('/v1/pets/7', { headers }));
    expect(event.headers).toMatchObject(sent);
    for (const name of [...dropped, 'Connection']) expect(event.headers).not.toHaveProperty(name);
    expect(event.requestContext.identity.userAgent).toBeNull();
  });

  // LocalStack, aws-lambda-dotnet, voker.
  it('has the trace id of the client, which gets it back, or a new one', async () => {
    const traceId = 'Root=1-5759e988-bd862e3fe1be46a994272793';
    const given = await gateway.request('/v1/pets/7', { headers: { 'x-amzn-trace-id': traceId } });
    expect(eventOf(given).headers['X-Amzn-Trace-Id']).toBe(traceId);
    expect(valuesOf(given, 'X-Amzn-Trace-Id')).toEqual([traceId]);
    const made = eventOf(await gateway.request('/v1/pets/7')).headers['X-Amzn-Trace-Id'];
    expect(made).toMatch(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/);
  });
});

import { connect } from 'node:net';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { stackDefinitionOf } from '../../infra/local/stack-definition.ts';
import {
  type RawResponse,
  TestGateway,
  type TestMethod,
  testGatewayResponses,
  testTemplate,
  valuesOf,
} from '../support/test-gateway.ts';

const echo = `exports.handler = async (event, context) => ({
  statusCode: 200,
  body: JSON.stringify({ event, context, remaining: context.getRemainingTimeInMillis(), env: process.env }),
});`;

const sources = {
  Echo: echo,
  Any: echo,
  // Gives the request's body as its reply, so that a test can write any reply.
  Reply: 'exports.handler = async ({ body }) => JSON.parse(body);',
  Fail: `exports.handler = async ({ pathParameters }) => {
    switch (pathParameters.how) {
      case 'throws': throw new Error('thrown on purpose');
      case 'throws-text': throw 'text on purpose';
      case 'throws-null': throw null;
      case 'exits': process.exit(0);
      case 'exits-1': process.exit(1);
      case 'uncaught': setTimeout(() => { throw new Error('uncaught on purpose'); }); return new Promise(() => {});
      case 'unhandled': Promise.reject(new Error('rejected on purpose')); return new Promise(() => {});
      case 'overflows': { const more = () => more() + 1; return more(); }
      case 'fills-memory': { const all = []; for (;;) all.push(new Array(1_000_000).fill(Math.random())); }
      case 'circular': { const result = { statusCode: 200 }; result.self = result; return result; }
      case 'bigint': return { statusCode: 200, body: 1n };
      case 'nothing': return undefined;
      default: return { statusCode: 200, body: 'fine' };
    }
  };`,
  Stuck: `exports.handler = async ({ pathParameters }) => {
    if (pathParameters.how === 'hangs') await new Promise(() => {});
    while (pathParameters.how === 'loops');
    return { statusCode: 200, body: 'fine' };
  };`,
  Broken: 'throw new Error("broken on purpose");',
  Exportless: 'exports.other = () => {};',
  Slow: `let running = 0; let handled = 0;
    exports.handler = async ({ queryStringParameters }) => {
      running += 1;
      handled += 1;
      console.log('a line\\nanother line');
      process.stderr.write('an error line\\n');
      await new Promise((resolve) => setTimeout(resolve, Number(queryStringParameters.ms)));
      running -= 1;
      return { statusCode: 200, body: JSON.stringify({ running, handled }) };
    };`,
};

const routes: Record<string, TestMethod> = {
  'ANY /': { functionId: 'Any' },
  'GET /pets': { validated: true },
  'ANY /pets': { functionId: 'Any' },
  'GET /pets/{petId}': {},
  'ANY /pets/{petId}': { functionId: 'Any' },
  'GET /pets/mine': {},
  'GET /pets/{petId}/friends/{friendId}': {},
  'GET /query': {
    properties: {
      RequestParameters: { 'method.request.querystring.from': true },
      RequestValidatorId: { Ref: 'Validator' },
    },
  },
  'GET /aliased': { viaAlias: true },
  'ANY /files/{path+}': { functionId: 'Any' },
  'POST /reply': { functionId: 'Reply' },
  'GET /fail/{how}': { functionId: 'Fail' },
  'GET /stuck/{how}': { functionId: 'Stuck' },
  'GET /broken': { functionId: 'Broken' },
  'GET /exportless': { functionId: 'Exportless' },
  'GET /slow': { functionId: 'Slow' },
  'GET /too-slow': { functionId: 'Slow', timeoutMs: 100 },
  'OPTIONS /mock': {
    properties: {
      Integration: {
        Type: 'MOCK',
        RequestTemplates: { 'application/json': '{ "statusCode": 204 }' },
        IntegrationResponses: [
          {
            StatusCode: '204',
            ResponseParameters: {
              'method.response.header.Access-Control-Allow-Origin': "'https://store.example'",
            },
          },
        ],
      },
    },
  },
  'ANY /{proxy+}': { functionId: 'Any' },
};

const apiKey = `pets_test_0123456789abcdef_${'a'.repeat(72)}`;
const authorization = { Authorization: `Bearer ${apiKey}` };

let gateway: TestGateway;
beforeAll(async () => {
  process.env['SECRET_OF_THE_HOST'] = 'secret';
  gateway = await TestGateway.start(testTemplate(routes, Object.keys(sources)), sources);
});
afterAll(() => gateway.stop());

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const usedHeap = () => {
  collectGarbage();
  return getHeapStatistics().used_heap_size;
};

const echoed = ({ body }: RawResponse) => JSON.parse(body);
const eventOf = (response: RawResponse) => echoed(response).event;
const typeOf = ({ body }: RawResponse) => JSON.parse(body).type;

describe('a request takes the route that API Gateway would give it', () => {
  it.each([
    ['GET', '/v1/pets', 'Echo', '/pets', null],
    ['POST', '/v1/pets', 'Any', '/pets', null],
    ['HEAD', '/v1/pets', 'Any', '/pets', null],
    ['GET', '/v1/pets?limit=5', 'Echo', '/pets', null],
    ['GET', '/v1/pets/7', 'Echo', '/pets/{petId}', { petId: '7' }],
    ['PATCH', '/v1/pets/7', 'Any', '/pets/{petId}', { petId: '7' }],
    ['GET', '/v1/pets/mine', 'Echo', '/pets/mine', null],
    [
      'GET',
      '/v1/pets/1/friends/2',
      'Echo',
      '/pets/{petId}/friends/{friendId}',
      { petId: '1', friendId: '2' },
    ],
    ['GET', '/v1/pets/', 'Echo', '/pets', null],
    ['GET', '/v1/pets/7/', 'Echo', '/pets/{petId}', { petId: '7' }],
    ['GET', '/v1/stray/', 'Any', '/{proxy+}', { proxy: 'stray' }],
    ['GET', '/v1/pets//friends/2', 'Any', '/{proxy+}', { proxy: 'pets//friends/2' }],
    ['GET', '/v1/Pets', 'Any', '/{proxy+}', { proxy: 'Pets' }],
    ['GET', '/v1//pets', 'Any', '/{proxy+}', { proxy: '/pets' }],
    ['GET', '/v1/files/a/b', 'Any', '/files/{path+}', { path: 'a/b' }],
    ['GET', '/v1/files', 'Any', '/{proxy+}', { proxy: 'files' }],
    ['GET', '/v1/aliased', 'Echo', '/aliased', null],
    ['GET', '/v1', 'Any', '/', null],
    ['DELETE', '/v1/', 'Any', '/', null],
  ])('%s %s', async (method, path, functionName, resource, pathParameters) => {
    // HEAD has no body to look into, so the answer's length stands for it.
    const response = await gateway.request(path, { method, headers: authorization });
    expect(response.status).toBe(200);
    if (method === 'HEAD') {
      expect(response.body).toBe('');
      expect(Number(valuesOf(response, 'content-length')[0])).toBeGreaterThan(100);
      return;
    }
    const { event, context } = echoed(response);
    expect(context.functionName).toBe(functionName);
    expect(event).toMatchObject({ resource, pathParameters, httpMethod: method });
  });

  it.each([
    ['outside the stage', 'GET', '/'],
    ['of another stage', 'GET', '/v2/pets'],
    ['whose start only looks like the stage', 'GET', '/v1x/pets'],
    ['without that method', 'POST', '/v1/pets/mine'],
    ['with a method that ANY does not stand for', 'PROPFIND', '/v1/pets'],
  ])('an address %s gets MISSING_AUTHENTICATION_TOKEN', async (_what, method, path) => {
    const response = await gateway.request(path, { method, headers: authorization });
    expect(response.status).toBe(404);
    expect(typeOf(response)).toBe('MISSING_AUTHENTICATION_TOKEN');
    expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['MissingAuthenticationTokenException']);
  });

  it('takes the whole address as the target, as a proxy sends it', async () => {
    const response = await gateway.request(`${gateway.origin}/v1/pets/7`);
    expect(eventOf(response)).toMatchObject({ path: '/pets/7', pathParameters: { petId: '7' } });
  });
});

describe('a function gets the event that a REST API sends', () => {
  it('field by field', async () => {
    const response = await gateway.request('/v1/pets/7?a=1&b=2&a=3', {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', 'User-Agent': 'test', Host: 'store.example:80' },
      body: 'héllo',
    });
    const requestId = valuesOf(response, 'x-amzn-requestid')[0];
    const traceId = valuesOf(response, 'x-amzn-trace-id')[0];
    expect(traceId).toMatch(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/);
    const headers = {
      'Content-Type': 'text/plain',
      Host: 'store.example:80',
      'User-Agent': 'test',
      'X-Amzn-Trace-Id': traceId,
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Port': new URL(gateway.origin).port,
      'X-Forwarded-Proto': 'http',
    };
    expect(eventOf(response)).toEqual({
      resource: '/pets/{petId}',
      path: '/pets/7',
      httpMethod: 'POST',
      headers,
      multiValueHeaders: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, [value]]),
      ),
      queryStringParameters: { a: '3', b: '2' },
      multiValueQueryStringParameters: { a: ['1', '3'], b: ['2'] },
      pathParameters: { petId: '7' },
      stageVariables: null,
      requestContext: {
        accountId: expect.stringMatching(/^\d{12}$/),
        apiId: expect.any(String),
        authorizer: null,
        domainName: 'store.example',
        domainPrefix: 'store',
        extendedRequestId: valuesOf(response, 'x-amz-apigw-id')[0],
        httpMethod: 'POST',
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
          userAgent: 'test',
          userArn: null,
        },
        path: '/v1/pets/7',
        protocol: 'HTTP/1.1',
        requestId,
        requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        requestTimeEpoch: expect.any(Number),
        resourceId: expect.any(String),
        resourcePath: '/pets/{petId}',
        stage: 'v1',
      },
      body: 'héllo',
      isBase64Encoded: false,
    });
  });

  it('with null for what is absent', async () => {
    expect(eventOf(await gateway.request('/v1/?'))).toMatchObject({
      path: '/',
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      body: null,
    });
  });

  it('with the slash at the end of its path, though the route is that of the path without it', async () => {
    expect(eventOf(await gateway.request('/v1/pets/7/'))).toMatchObject({
      resource: '/pets/{petId}',
      path: '/pets/7/',
      requestContext: { path: '/v1/pets/7/' },
    });
  });

  it('with header names in the case of the client, and every value of a repeated one', async () => {
    const { hostname } = new URL(gateway.origin);
    const answer = await gateway.sendBytes(
      [
        'GET /v1/pets/7 HTTP/1.1',
        `Host: ${hostname}`,
        'AUTHORIZATION: one',
        'authorization: two',
        'X-Twice: first',
        'X-Twice: second',
        'x-forwarded-for: 192.0.2.1',
        'Connection: close',
        '',
        '',
      ].join('\r\n'),
    );
    const { event } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(event.multiValueHeaders).toMatchObject({
      AUTHORIZATION: ['one'],
      authorization: ['two'],
      'X-Twice': ['first', 'second'],
      'X-Forwarded-For': ['192.0.2.1, 127.0.0.1'],
    });
    expect(event.headers).toMatchObject({ 'X-Twice': 'second' });
    expect(event.headers).not.toHaveProperty('Connection');
  });

  it('with the path as it was sent and the query decoded', async () => {
    const path = '/v1/pets/%2e%2E%2F%zz%00é'.replace('é', '%C3%A9');
    expect(eventOf(await gateway.request(`${path}?n%61me=%C3%A9+x&flag&flag=%zz`))).toMatchObject({
      path: '/pets/%2e%2E%2F%zz%00%C3%A9',
      pathParameters: { petId: '%2e%2E%2F%zz%00%C3%A9' },
      requestContext: { path },
      multiValueQueryStringParameters: { name: ['é x'], flag: ['', '%zz'] },
    });
  });

  it('with a byte order mark left in the body', async () => {
    const response = await gateway.request('/v1/pets', { method: 'POST', body: '\uFEFF{}' });
    expect(eventOf(response).body).toBe('\uFEFF{}');
  });

  it('with the trace id of the client, which it gets back', async () => {
    const traceId = 'Root=1-5759e988-bd862e3fe1be46a994272793';
    const response = await gateway.request('/v1/pets/7', {
      headers: { 'x-amzn-trace-id': traceId },
    });
    expect(eventOf(response).headers['X-Amzn-Trace-Id']).toBe(traceId);
    expect(valuesOf(response, 'X-Amzn-Trace-Id')).toEqual([traceId]);
  });
});

describe('the request validator', () => {
  it.each([
    ['a missing', {}],
    ['an empty', { Authorization: '' }],
    ['a blank', { Authorization: '   ' }],
  ])(
    'refuses %s required header, with the headers that the template gives',
    async (_what, headers) => {
      const response = await gateway.request('/v1/pets', { headers });
      expect(response.status).toBe(401);
      expect(response.body).toBe('{"type":"BAD_REQUEST_PARAMETERS"}');
      expect(valuesOf(response, 'content-type')).toEqual(['application/json']);
      expect(valuesOf(response, 'www-authenticate')).toEqual(['Bearer']);
      expect(valuesOf(response, 'x-quoted')).toEqual(["it's"]);
      expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['BadRequestException']);
      expect(valuesOf(response, 'x-amzn-requestid')[0]).toMatch(/^[0-9a-f-]{36}$/);
      expect(valuesOf(response, 'x-amz-apigw-id')).toHaveLength(1);
    },
  );

  it('takes a required header in any case, and does not ask for an optional one', async () => {
    const response = await gateway.request('/v1/pets', { headers: { aUTHORIZATION: 'x' } });
    expect(response.status).toBe(200);
  });

  it('refuses a missing or blank required query parameter', async () => {
    expect((await gateway.request('/v1/query')).status).toBe(401);
    expect((await gateway.request('/v1/query?from=%20')).status).toBe(401);
    expect((await gateway.request('/v1/query?from=x')).status).toBe(200);
  });
});

describe('a body over 10 MB', () => {
  const tooLarge = Buffer.alloc(10 * 1_024 * 1_024 + 1, 'a');

  it.each([
    ['announced by its length', { 'Content-Length': `${tooLarge.length}` }],
    ['sent in chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('gets REQUEST_TOO_LARGE when %s', async (_how, headers) => {
    const response = await gateway.request('/v1/pets', { method: 'POST', headers, body: tooLarge });
    expect(response.status).toBe(413);
    expect(typeOf(response)).toBe('REQUEST_TOO_LARGE');
  });

  it('is one byte more than what passes', async () => {
    const body = tooLarge.subarray(1);
    const response = await gateway.request('/v1/pets', { method: 'POST', body });
    expect(response.status).toBe(200);
    expect(eventOf(response).body).toHaveLength(body.length);
  });
});

describe('a reply of a function', () => {
  const reply = (value: unknown) =>
    gateway.request('/v1/reply', { method: 'POST', body: JSON.stringify(value) });

  it.each<[string, unknown]>([
    ['null', null],
    ['text', 'hello'],
    ['a list', []],
    ['no status', { body: 'hello' }],
    ['an HTTP API reply that is only a body', { hello: 'world' }],
    ['a status in text', { statusCode: '200' }],
    ['a status with a fraction', { statusCode: 200.5 }],
    ['a status below 200', { statusCode: 101 }],
    ['a status over 599', { statusCode: 600 }],
    ['an unknown key', { statusCode: 200, cookies: [] }],
    ['a body that is an object', { statusCode: 200, body: { hello: 'world' } }],
    ['a body that is a number', { statusCode: 200, body: 1 }],
    ['a number as header', { statusCode: 200, headers: { 'X-Number': 1 } }],
    ['null as header', { statusCode: 200, headers: { 'X-Null': null } }],
    ['a list as header', { statusCode: 200, headers: { 'X-List': ['a'] } }],
    [
      'text among the multi-value headers',
      { statusCode: 200, multiValueHeaders: { 'X-Text': 'a' } },
    ],
    ['a header name with a space', { statusCode: 200, headers: { 'X Space': 'a' } }],
    ['a header with a line break', { statusCode: 200, headers: { 'X-Break': 'a\r\nX-More: b' } }],
    ['isBase64Encoded in text', { statusCode: 200, isBase64Encoded: 'true' }],
  ])('that is malformed, %s, gets DEFAULT_5XX', async (_what, value) => {
    const logged = gateway.log.length;
    const response = await reply(value);
    expect(response.status).toBe(502);
    expect(response.body).toBe('{"type":"DEFAULT_5XX"}');
    expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['InternalServerErrorException']);
    const requestId = valuesOf(response, 'x-amzn-requestid')[0];
    expect(gateway.log.slice(logged)).toEqual([expect.stringContaining(`${requestId} `)]);
  });

  it('is sent with its status, headers and body, and the ids of the request', async () => {
    const response = await reply({
      statusCode: 201,
      headers: { 'Content-Type': 'text/plain', 'X-Case': 'kept', 'X-Flag': true },
      body: 'héllo',
    });
    expect(response.status).toBe(201);
    expect(response.body).toBe('héllo');
    expect(response.headers).toEqual(
      expect.arrayContaining([
        ['Content-Type', 'text/plain'],
        ['X-Case', 'kept'],
        ['X-Flag', 'true'],
        ['Content-Length', '6'],
        ['x-amzn-RequestId', expect.stringMatching(/^[0-9a-f-]{36}$/)],
        ['x-amz-apigw-id', expect.any(String)],
        ['X-Amzn-Trace-Id', expect.stringMatching(/^Root=/)],
      ]),
    );
  });

  it('is JSON when it names no type', async () => {
    expect(valuesOf(await reply({ statusCode: 200 }), 'content-type')).toEqual([
      'application/json',
    ]);
  });

  it('has no body with null or with a status that allows none', async () => {
    expect((await reply({ statusCode: 200, body: null, headers: null })).body).toBe('');
    const noContent = await reply({ statusCode: 204, body: 'x' });
    expect(noContent).toMatchObject({ status: 204, body: '' });
    expect(valuesOf(noContent, 'content-length')).toEqual([]);
  });

  it('repeats a header by multiValueHeaders, and sends a pair of both maps once', async () => {
    const response = await reply({
      statusCode: 200,
      headers: { Link: '<a>', 'x-one': 'single' },
      multiValueHeaders: { Link: ['<a>', '<b>'], 'X-One': ['multi'] },
    });
    expect(valuesOf(response, 'link')).toEqual(['<a>', '<b>']);
    expect(valuesOf(response, 'x-one').sort()).toEqual(['multi', 'single']);
  });

  it('keeps base64 as it is, for the API has no binary media types', async () => {
    const response = await reply({ statusCode: 200, body: 'aGk=', isBase64Encoded: true });
    expect(response.body).toBe('aGk=');
  });

  it.each([
    'WWW-Authenticate',
    'Authorization',
    'Connection',
    'Content-Length',
    'Content-MD5',
    'Date',
    'Server',
    'User-Agent',
    'x-amzn-RequestId',
  ])('has its %s renamed', async (name) => {
    const response = await reply({ statusCode: 200, headers: { [name]: 'mine' }, body: 'ok' });
    expect(valuesOf(response, `x-amzn-remapped-${name}`)).toEqual(['mine']);
    expect(valuesOf(response, name)).not.toContain('mine');
  });

  it.each(['Transfer-Encoding', 'Upgrade', 'Trailer', 'TE', 'Via', 'Host'])(
    'loses its %s',
    async (name) => {
      const response = await reply({ statusCode: 200, headers: { [name]: 'mine' }, body: 'ok' });
      expect(response).toMatchObject({ status: 200, body: 'ok' });
      expect(response.headers.map(([, value]) => value)).not.toContain('mine');
    },
  );
});

describe('a function that fails', () => {
  it.each([
    ['throws', /thrown on purpose/],
    ['throws-text', /text on purpose/],
    ['throws-null', /null/],
    ['exits', /environment ended/],
    ['exits-1', /environment ended/],
    ['uncaught', /uncaught on purpose/],
    ['unhandled', /rejected on purpose/],
    ['overflows', /call stack/],
    ['fills-memory', /memory/],
    ['circular', /circular/],
    ['bigint', /BigInt/],
  ])(
    '%s: DEFAULT_5XX, the reason in the log, and the next request is served',
    async (how, reason) => {
      const logged = gateway.log.length;
      const response = await gateway.request(`/v1/fail/${how}`, { headers: authorization });
      expect(response.status).toBe(502);
      expect(response.body).toBe('{"type":"DEFAULT_5XX"}');
      expect(gateway.log.slice(logged).join('\n')).toMatch(reason);
      expect((await gateway.request('/v1/fail/not')).body).toBe('fine');
    },
  );

  it.each(['hangs', 'loops'])(
    '%s: DEFAULT_5XX after its timeout, the reason in the log, and the next request is served',
    async (how) => {
      const logged = gateway.log.length;
      const response = await gateway.request(`/v1/stuck/${how}`);
      expect(response.status).toBe(502);
      expect(gateway.log.slice(logged).join('\n')).toMatch(/timed out after 1 s/);
      expect((await gateway.request('/v1/stuck/not')).body).toBe('fine');
    },
  );

  it('with no result gets DEFAULT_5XX', async () => {
    expect((await gateway.request('/v1/fail/nothing')).status).toBe(502);
  });

  it.each([
    ['broken', /broken on purpose/],
    ['exportless', /exports no function handler/],
  ])('to load (%s) gets DEFAULT_5XX each time', async (path, reason) => {
    const logged = gateway.log.length;
    expect((await gateway.request(`/v1/${path}`)).status).toBe(502);
    expect((await gateway.request(`/v1/${path}`)).status).toBe(502);
    expect(gateway.log.slice(logged).join('\n')).toMatch(reason);
  });

  it('to answer in time gets INTEGRATION_TIMEOUT, and its environment goes on', async () => {
    const response = await gateway.request('/v1/too-slow?ms=400');
    expect(response.status).toBe(504);
    expect(typeOf(response)).toBe('INTEGRATION_TIMEOUT');
    expect((await gateway.request('/v1/slow?ms=500')).status).toBe(200);
  });
});

describe('an execution environment', () => {
  it('has the variables of the template and of Lambda, and none of this process', async () => {
    const { env } = echoed(await gateway.request('/v1/pets/7'));
    expect(env).toMatchObject({
      TABLE: 'Table',
      GREETING: 'hello',
      JOINED: 'a/Table',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
      AWS_LAMBDA_FUNCTION_NAME: 'Echo',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_REGION: expect.any(String),
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^[A-Za-z0-9]+$/),
      _HANDLER: 'Echo.handler',
    });
    expect(env).not.toHaveProperty('SECRET_OF_THE_HOST');
    expect(env).not.toHaveProperty('PATH');
  });

  it('tells the invocation about itself', async () => {
    const { context, remaining } = echoed(await gateway.request('/v1/pets/7'));
    expect(context).toMatchObject({
      functionName: 'Echo',
      functionVersion: '$LATEST',
      memoryLimitInMB: '128',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      invokedFunctionArn: expect.stringMatching(/^arn:aws:lambda:.*:function:Echo$/),
    });
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(25_000);
  });

  it('takes one invocation at a time and is used again; more than four at a time wait', async () => {
    const fresh = await TestGateway.start(testTemplate(routes, Object.keys(sources)), sources);
    try {
      const responses = await Promise.all(
        Array.from({ length: 12 }, () => fresh.request('/v1/slow?ms=50')),
      );
      const bodies = responses.map(echoed);
      expect(bodies.map(({ running }) => running)).toEqual(Array(12).fill(0));
      // Each environment counts what it has handled: as many counted 1 as there are environments.
      expect(bodies.filter(({ handled }) => handled === 1)).toHaveLength(4);
    } finally {
      await fresh.stop();
    }
  });

  it('keeps nothing of the answers that it has given', async () => {
    const [definition] = stackDefinitionOf(
      testTemplate({ 'GET /large': {} }, ['Echo']),
    ).functions.values();
    if (!definition) throw new Error('The template has no function');
    const large = new LambdaFunction({
      definition,
      code: "exports.handler = async () => 'a'.repeat(200_000);",
      filename: '/var/task/Large.cjs',
      environment: {},
      log: () => {},
    });
    try {
      const invoke = () => large.invoke({ requestId: '1', traceId: '1', event: {} });
      await invoke();
      const before = usedHeap();
      for (let count = 0; count < 200; count += 1) await invoke();
      // All answers together are 40 MB.
      expect(usedHeap() - before).toBeLessThan(10_000_000);
    } finally {
      await large.terminate();
    }
  });

  it('has its output passed on line by line', async () => {
    const logged = gateway.log.length;
    await gateway.request('/v1/slow?ms=1');
    await expect
      .poll(() => gateway.log.slice(logged))
      .toEqual(expect.arrayContaining(['a line', 'another line', 'an error line']));
  });
});

describe('a mocked integration', () => {
  it('answers with what the template says', async () => {
    const response = await gateway.request('/v1/mock', { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(valuesOf(response, 'access-control-allow-origin')).toEqual(['https://store.example']);
  });
});

describe('what is no request', () => {
  it.each([
    ['not HTTP', 'hello\r\n\r\n'],
    ['an unknown method', 'FETCH /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    ['CONNECT', 'CONNECT store.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('gets DEFAULT_4XX: %s', async (_what, bytes) => {
    const answer = await gateway.sendBytes(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 418 /);
    expect(answer).toMatch(/\r\nContent-Type: application\/json\r\n/);
    expect(answer).toMatch(/\r\n\r\n\{"type":"DEFAULT_4XX"\}$/);
  });

  it.each(['Authorization', 'X-Long'])(
    'gets BAD_REQUEST_PARAMETERS when it has a header %s over 64 KB, with which none is readable',
    async (name) => {
      const answer = await gateway.sendBytes(
        `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${name}: ${'a'.repeat(70_000)}\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
      expect(answer).toMatch(/\r\nWWW-Authenticate: Bearer\r\n/);
      expect(answer).toMatch(/\r\n\r\n\{"type":"BAD_REQUEST_PARAMETERS"\}$/);
    },
  );

  it('is not a header of 20 KB, an unknown expectation or a missing Host', async () => {
    const long = await gateway.request('/v1/pets', {
      headers: { Authorization: 'a'.repeat(20_000) },
    });
    expect(eventOf(long).headers.Authorization).toHaveLength(20_000);
    const expecting = await gateway.request('/v1/pets/7', { headers: { Expect: 'miracles' } });
    expect(expecting.status).toBe(200);
    expect(await gateway.sendBytes('GET /v1/pets/7 HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('does not end the gateway when a client goes in the middle of its body', async () => {
    const { hostname, port } = new URL(gateway.origin);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve) => {
      socket.write('POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab', () =>
        resolve(),
      );
    });
    socket.resetAndDestroy();
    expect((await gateway.request('/v1/pets/7')).status).toBe(200);
  });
});

describe('without gateway responses of its own', () => {
  it('a type falls back to the default type, and that to what API Gateway says', async () => {
    const { Default4xx } = testGatewayResponses;
    const api = (others: Record<string, unknown>) =>
      TestGateway.start(testTemplate(routes, Object.keys(sources), others), sources);
    const [withDefault, bare] = [await api({ Default4xx }), await api({})];
    try {
      expect(await withDefault.request('/')).toMatchObject({
        status: 418,
        body: '{"type":"DEFAULT_4XX"}',
      });
      expect(await bare.request('/')).toMatchObject({
        status: 403,
        body: '{"message":"Missing Authentication Token"}',
      });
      expect((await bare.request('/v1/pets')).status).toBe(400);
      expect((await bare.request('/v1/fail/throws')).status).toBe(502);
    } finally {
      await withDefault.stop();
      await bare.stop();
    }
  });
});

describe('the API key of a request', () => {
  it('is in no line of the log and in no answer of the gateway itself', async () => {
    const paths = ['/', '/v2', '/v1/fail/throws', '/v1/too-slow?ms=200', '/v1/broken'];
    for (const path of paths) {
      const response = await gateway.request(path, { headers: authorization });
      expect(JSON.stringify(response)).not.toContain(apiKey);
    }
    const malformed = `GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${apiKey}\r\nbad\r\n\r\n`;
    expect(await gateway.sendBytes(malformed)).not.toContain(apiKey);
    expect(gateway.log.length).toBeGreaterThan(0);
    expect(gateway.log.join('\n')).not.toContain(apiKey);
  });
});

describe('a port', () => {
  it('that is taken is an error of one line that says what to do', async () => {
    const port = Number(new URL(gateway.origin).port);
    await expect(startGateway({ port, log: () => {} })).rejects.toThrow(
      new RegExp(`^Port ${port} is taken\\. Stop .* PORT .*$`),
    );
  });
});

describe('a template that the local service does not understand', () => {
  const method = (properties: Record<string, unknown>) =>
    testTemplate({ 'GET /pets': { properties } }, ['Echo']);

  it.each([
    ['an authorizer', method({ AuthorizationType: 'AWS_IAM' }), /AuthorizationType/],
    ['a required API Gateway key', method({ ApiKeyRequired: true }), /ApiKeyRequired/],
    ['an HTTP integration', method({ Integration: { Type: 'HTTP_PROXY' } }), /Integration/],
    ['no function', testTemplate({ 'GET /pets': { functionId: 'Gone' } }, []), /names no function/],
    [
      'a gateway response with an expression',
      testTemplate({}, [], {
        Default: {
          Type: 'AWS::ApiGateway::GatewayResponse',
          Properties: {
            ResponseType: 'DEFAULT_4XX',
            ResponseTemplates: { 'application/json': '{"message":$context.error.messageString}' },
          },
        },
      }),
      /expression/,
    ],
    [
      'an environment variable that only CloudFormation knows',
      testTemplate({ 'GET /pets': {} }, [], {
        Echo: {
          Type: 'AWS::Lambda::Function',
          Properties: {
            Handler: 'Echo.handler',
            Environment: { Variables: { QUEUE: { 'Fn::GetAtt': ['Queue', 'QueueUrl'] } } },
          },
        },
      }),
      /variable QUEUE of Echo/,
    ],
    [
      'binary media types',
      testTemplate({}, [], {
        Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { BinaryMediaTypes: ['*/*'] } },
      }),
      /BinaryMediaTypes/,
    ],
  ])('is refused: %s', (_what, template, reason) => {
    expect(() => stackDefinitionOf(template)).toThrow(reason);
  });
});

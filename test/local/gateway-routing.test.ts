import { afterAll, describe, expect, it } from 'vitest';
import { headerValuesOf as valuesOf } from '../../infra/local/gateway/proxy-event.ts';
import { eventOf, startTestGateway, testGatewayResponses } from '../support/test-gateway.ts';

// Each recorded row of a table names its source as `aws-recorded.md` does.

const gateway = await startTestGateway();
afterAll(gateway.stop);

type Case = readonly [
  source: string,
  method: string,
  path: string,
  resource: string,
  pathParameters: Readonly<Record<string, string>> | null,
];

describe('the route of a request', () => {
  it.each<Case>([
    ['37 LScom', 'GET', '/v1/pets', '/pets', null],
    ['37 LScom', 'GET', '/v1/pets?limit=5', '/pets', null],
    ['37 LScom', 'GET', '/v1/pets/7', '/pets/{petId}', { petId: '7' }],
    ['37 LScom', 'GET', '/v1/pets/mine', '/pets/mine', null],
    ['37 LScom', 'GET', '/v1/Pets', '/{proxy+}', { proxy: 'Pets' }],
    ['37 LScom', 'GET', '/v1/files/a/b', '/files/{path+}', { path: 'a/b' }],
    ['37 LScom', 'GET', '/v1/files', '/{proxy+}', { proxy: 'files' }],
    ['36 LScom', 'POST', '/v1/pets', '/pets', null],
    ['36 LScom', 'PATCH', '/v1/pets/7', '/pets/{petId}', { petId: '7' }],
    ['14 LSλ', 'GET', '/v1/pets/', '/pets', null],
    ['14 LSλ', 'GET', '/v1/pets/7/', '/pets/{petId}', { petId: '7' }],
    ['14 LSλ', 'GET', '/v1/stray/', '/{proxy+}', { proxy: 'stray' }],
    ['15 LSλ', 'GET', '/v1/pets//friends/2', '/{proxy+}', { proxy: 'pets//friends/2' }],
    ['16 LSλ', 'GET', '/v1//pets', '/pets', null],
    ['16 LSλ', 'GET', '/v1///pets/7', '/pets/{petId}', { petId: '7' }],
    ['16 LSλ', 'GET', '/v1//stray', '/{proxy+}', { proxy: 'stray' }],
    ['17 LSλ', 'GET', '//v1/pets', '/pets', null],
    ['unverified', 'DELETE', '/v1/', '/', null],
    ['unverified (42)', 'GET', '/v1', '/', null],
    [
      'unverified',
      'GET',
      '/v1/pets/1/friends/2',
      '/pets/{petId}/friends/{friendId}',
      { petId: '1', friendId: '2' },
    ],
  ])(
    'is, by row %s, for %s %s the resource %s',
    async (_source, method, path, resource, pathParameters) => {
      const response = await gateway.request(path, { method });
      expect(response.status).toBe(200);
      expect(eventOf(response)).toMatchObject({ resource, pathParameters, httpMethod: method });
    },
  );

  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-any-method.html
  it('calls the function of the method itself before that of ANY', async () => {
    const nameAt = async (method: string) =>
      JSON.parse((await gateway.request('/v1/pets', { method })).body).context.functionName;
    expect([await nameAt('GET'), await nameAt('POST')]).toEqual(['Echo', 'Any']);
  });

  it('drops the body of a response to HEAD (71 AZ#6514)', async () => {
    const response = await gateway.request('/v1/pets', { method: 'HEAD' });
    expect(response).toMatchObject({ status: 200, body: '' });
    expect(Number(valuesOf(response, 'content-length')[0])).toBeGreaterThan(100);
  });

  it('closes the connection of a client that asks for it (80 LSreg)', async () => {
    const response = await gateway.request('/v1/pets', { headers: { Connection: 'close' } });
    expect(valuesOf(response, 'connection')).toEqual(['close']);
  });
});

const bearer = { Authorization: 'Bearer pets_test_key' };
/** The type of gateway response that the template gives this body. */
const body = (type: string) => `{"type":"${type}"}`;
const forbidden = '{"message":"Forbidden"}';

describe('a request that no route takes', () => {
  it.each([
    [
      '35 LScom',
      'another method',
      'POST',
      '/v1/pets/mine',
      {},
      404,
      'MISSING_AUTHENTICATION_TOKEN',
    ],
    [
      'unverified',
      'no method of ANY',
      'PROPFIND',
      '/v1/pets',
      {},
      404,
      'MISSING_AUTHENTICATION_TOKEN',
    ],
    ['38 AZ#7470', 'a Bearer token', 'PROPFIND', '/v1/pets', bearer, 418, 'DEFAULT_4XX'],
    ['38 AZ#7470', 'a Bearer token', 'POST', '/v1/pets/mine', bearer, 418, 'DEFAULT_4XX'],
    ['43 fireprox#27', '% in the path', 'GET', '/v1/pets/%zz', {}, 418, 'DEFAULT_4XX'],
    ['43 fireprox#27', '% at the end', 'GET', '/v1/pets/7%', {}, 418, 'DEFAULT_4XX'],
    ['43 apig-wsgi#102', '% in the query', 'GET', '/v1/pets?limit=5%', {}, 418, 'DEFAULT_4XX'],
  ])(
    'gets, by row %s for %s (%s %s, %o), %i %s',
    async (_source, _what, method, path, headers, status, type) => {
      const response = await gateway.request(path, { method, headers });
      expect(response).toMatchObject({ status, body: body(type) });
      expect(valuesOf(response, 'x-amzn-errortype')).toHaveLength(1);
      expect(JSON.stringify(response)).not.toContain('pets_test_key');
    },
  );

  // 40 OWASP/Serverless-Goat#14, asishrs/smartthings-ringalarmv2#5
  it.each(['/', '/v2/pets', '/v1x/pets', '/pets', '/docs/v1'])(
    'gets 403 Forbidden outside any stage, which no gateway response changes: %s',
    async (path) => {
      for (const headers of [{}, bearer]) {
        expect(await gateway.request(path, { headers })).toMatchObject({
          status: 403,
          body: forbidden,
        });
      }
    },
  );
});

describe('gateway responses', () => {
  it.each([
    [
      '83 LSapi',
      'the default type',
      ['DEFAULT_4XX', 'DEFAULT_5XX'],
      [418, body('DEFAULT_4XX')],
      [502, body('DEFAULT_5XX')],
    ],
    [
      '34 LScom, 55 NET',
      'what API Gateway sends',
      [],
      [403, '{"message":"Missing Authentication Token"}'],
      [502, '{"message":"Internal server error"}'],
    ],
  ] as const)('fall back, by row %s, to %s', async (_source, _what, kept, unmatched, failed) => {
    const bare = await startTestGateway(
      new Map([...testGatewayResponses].filter(([type]) => kept.some((name) => name === type))),
    );
    try {
      const responses = await Promise.all([
        bare.request('/v1/pets/mine', { method: 'POST' }),
        bare.request('/v1/fail/throws'),
      ]);
      expect(responses.map((response) => [response.status, response.body])).toEqual([
        unmatched,
        failed,
      ]);
    } finally {
      await bare.stop();
    }
  });

  it('keep the status of the error, by row 84 AZ#7470, where the template gives none', async () => {
    const statusless = { status: undefined, headers: {}, body: body('DEFAULT_4XX') };
    const bare = await startTestGateway(new Map([['DEFAULT_4XX', statusless]]));
    try {
      const unmatched = await bare.request('/v1/pets/mine', { method: 'POST' });
      const malformed = await bare.request('/v1/pets/%zz');
      expect([unmatched, malformed].map(({ status }) => status)).toEqual([403, 400]);
      for (const response of [unmatched, malformed]) {
        expect(response.body).toBe(body('DEFAULT_4XX'));
      }
    } finally {
      await bare.stop();
    }
  });

  it('have, by rows 72 to 74 LSreg, an error type and ids, and no trace id', async () => {
    const response = await gateway.request('/v1/fail/throws');
    expect(response.headers).toEqual(
      expect.arrayContaining([
        ['Content-Type', 'application/json'],
        ['Content-Length', `${response.body.length}`],
        ['Retry-After', '1'],
        ['x-amzn-ErrorType', 'InternalServerErrorException'],
        ['x-amzn-RequestId', expect.stringMatching(/^[0-9a-f-]{36}$/)],
        ['x-amz-apigw-id', expect.any(String)],
      ]),
    );
    expect(valuesOf(response, 'x-amzn-trace-id')).toEqual([]);
  });
});

describe('a request that is too large', () => {
  it('gets REQUEST_TOO_LARGE when its event has more than 6 MB (85 aws-lambda-dotnet)', async () => {
    const post = (length: number) =>
      gateway.request('/v1/pets', { method: 'POST', body: 'a'.repeat(length) });
    const limit = 6 * 1_024 * 1_024;
    expect(eventOf(await post(limit - 4_096)).body).toHaveLength(limit - 4_096);
    expect(await post(limit)).toMatchObject({ status: 413, body: body('REQUEST_TOO_LARGE') });
  });

  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
  it('gets DEFAULT_4XX (unverified) for more than 10,240 bytes of headers', async () => {
    const withHeader = (bytes: number) =>
      gateway.sendBytes(
        `GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ${'a'.repeat(bytes)}\r\n\r\n`,
      );
    expect(await withHeader(10_100)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await withHeader(10_300)).toMatch(/^HTTP\/1\.1 418 .*\{"type":"DEFAULT_4XX"\}$/s);
  });
});

describe('bytes that are no request', () => {
  it.each([
    ['that are not HTTP', 'hello\r\n\r\n'],
    ['with an unknown method', 'FETCH /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['with a header without a colon', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    [
      'with two lengths',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
  ])('get DEFAULT_4XX (46 AZ#7470): %s', async (_what, bytes) => {
    const answer = await gateway.sendBytes(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 418 /);
    expect(answer).toMatch(/\r\nContent-Type: application\/json\r\n/);
    expect(answer).toMatch(/\r\n\r\n\{"type":"DEFAULT_4XX"\}$/);
  });

  it('are not those without a Host (unverified)', async () => {
    const bytes = 'GET /v1/pets/7 HTTP/1.1\r\nConnection: close\r\n\r\n';
    expect(await gateway.sendBytes(bytes)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

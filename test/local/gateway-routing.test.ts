import { describe, expect, it } from 'vitest';
import { headerValuesOf as valuesOf } from '../../lib/gateway-events/gateway-request.ts';
import { eventOf, startTestGateway } from './test-gateway.ts';

// The sources of what AWS was recorded to do are linked in infra/local/aws-behaviour.md.

const gateway = await startTestGateway();

describe('the route of a request', () => {
  it.each<[rule: string, request: string, resource: string, pathParameters: object | null]>([
    // LocalStack.
    ['prefers a literal to a parameter', 'GET /v1/pets/mine', '/pets/mine', null],
    ['prefers a literal to a greedy one', 'GET /v1/files/a/b', '/files/{path+}', { path: 'a/b' }],
    ['is greedy for one segment or more', 'GET /v1/files', '/{proxy+}', { proxy: 'files' }],
    ['skips slashes around the stage', 'GET ///v1///pets/7', '/pets/{petId}', { petId: '7' }],
    ['keeps two slashes', 'GET /v1/pets//friends/2', '/{proxy+}', { proxy: 'pets//friends/2' }],
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-any-method.html
    ['has ANY for other methods', 'PATCH /v1/pets/7', '/pets/{petId}', { petId: '7' }],
    // Unverified. Reports contradict each other: aws/chalice#65 and stackery/php-lambda-layer#31.
    ['may be the root', 'DELETE /v1/', '/', null],
    ['may be the root without a slash', 'GET /v1', '/', null],
  ])('%s: that of %s is %s', async (_rule, line, resource, pathParameters) => {
    const [method = '', path = ''] = line.split(' ');
    const response = await gateway.request(path, { method });
    expect(response.status).toBe(200);
    expect(eventOf(response)).toMatchObject({ resource, pathParameters, httpMethod: method });
  });
});

const unmatched = '{"type":"MISSING_AUTHENTICATION_TOKEN"}';
const forbidden = '{"message":"Forbidden"}';

describe('a request that no route takes', () => {
  it.each([
    // LocalStack.
    ['a method that the resource lacks', 'POST /v1/pets/mine', 404, unmatched],
    // Unverified.
    ['a method beyond those of ANY', 'PROPFIND /v1/pets', 404, unmatched],
    // OWASP/Serverless-Goat#14, asishrs/smartthings-ringalarmv2#5
    ['a path without a stage', 'GET /', 403, forbidden],
    ['another stage', 'GET /v2/pets', 403, forbidden],
  ])('is refused for %s: %s gets %i %s', async (_what, line, status, expected) => {
    const [method = '', path = ''] = line.split(' ');
    const response = await gateway.request(path, { method });
    expect(response).toMatchObject({ status, body: expected });
    expect(valuesOf(response, 'x-amzn-errortype')).toHaveLength(1);
  });
});

it('a request outside the stage is logged, without its query, with the stage', async () => {
  const before = gateway.log.length;
  await gateway.request('/pets?limit=5');
  // A browser asks for these by itself.
  await gateway.request('/favicon.ico');
  await gateway.request('/.well-known/appspecific/com.chrome.devtools.json');
  expect(gateway.log.slice(before)).toEqual([
    'GET /pets is outside the base address, which ends in /v1',
  ]);
});

describe('gateway responses', () => {
  // LocalStack. clebert/aws-simple#71: their headers keep their names, unlike those of a function's output.
  it('have their headers, an error type and ids, and no trace id', async () => {
    const response = await gateway.request('/v1/pets/mine', { method: 'POST' });
    expect(response.headers).toEqual(
      expect.arrayContaining([
        ['Content-Type', 'application/json'],
        ['Content-Length', `${response.body.length}`],
        ['WWW-Authenticate', 'Bearer'],
        ['Access-Control-Allow-Origin', '*'],
        ['x-amzn-ErrorType', 'MissingAuthenticationTokenException'],
        ['x-amzn-RequestId', expect.stringMatching(/^[0-9a-f-]{36}$/)],
        ['x-amz-apigw-id', expect.any(String)],
      ]),
    );
    expect(valuesOf(response, 'x-amzn-trace-id')).toEqual([]);
  });
});

describe('a request that is too large', () => {
  // koki-develop/lgtm-generator#10. Unverified: the type of the response.
  it('gets REQUEST_TOO_LARGE when its event has more than 6 MB', async () => {
    const post = (body: string) => gateway.request('/v1/pets', { method: 'POST', body });
    const limit = 6 * 1_024 * 1_024;
    expect(eventOf(await post('a'.repeat(limit - 4_096))).body).toHaveLength(limit - 4_096);
    for (const body of ['a'.repeat(limit), 'a'.repeat(limit + 1), '"'.repeat(limit / 2)]) {
      const refusal = await post(body);
      expect(refusal).toMatchObject({ status: 413, body: '{"type":"REQUEST_TOO_LARGE"}' });
      expect(valuesOf(refusal, 'x-amzn-ErrorType')).toEqual(['BadRequestException']);
    }
  });

  // Unverified: the status.
  it('gets 431 for more than 10,240 bytes of headers', async () => {
    const statusWith = async (bytes: number) =>
      (await gateway.request('/v1/pets', { headers: { 'X-Long': 'a'.repeat(bytes) } })).status;
    expect([await statusWith(10_000), await statusWith(10_300)]).toEqual([200, 431]);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { headerValuesOf as valuesOf } from '../../infra/local/gateway/proxy-event.ts';
import { startTestGateway } from '../support/test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.stop);

/** The response to a request whose function replies so. */
const responseTo = (reply: unknown) =>
  gateway.request('/v1/reply', { method: 'POST', body: JSON.stringify(reply) });

describe('a reply of a function', () => {
  it.each<[source: string, reply: unknown, status: number, body: string]>([
    ['56 LSλpy', {}, 200, ''],
    ['57 LSλ', { headers: { 'X-Flag': 'a' } }, 200, ''],
    ['58 LSλ', { statusCode: '201', body: 'hello' }, 201, 'hello'],
    ['64 LSλ', { statusCode: 200, headers: null, body: null }, 200, ''],
    ['70 LSλ', { statusCode: 200, body: 'aGk=', isBase64Encoded: true }, 200, 'aGk='],
    ['unverified', { body: 'hello' }, 200, 'hello'],
    ['unverified', { statusCode: 204, body: 'x' }, 204, ''],
  ])('is accepted, by row %s: %j', async (_source, reply, status, body) => {
    expect(await responseTo(reply)).toMatchObject({ status, body });
  });

  it.each<[source: string, reply: unknown]>([
    ['59 LSλ', { statusCode: 'test' }],
    ['59 NET', { statusCode: 0 }],
    ['60 LSλ', { statusCode: 200, cookies: [] }],
    ['60 LSλ', { hello: 'world' }],
    ['61 LSλ', 'hello'],
    ['61 NET', []],
    ['62 LSλ', { statusCode: 200, multiValueHeaders: { 'X-Text': 'a' } }],
    ...[
      null,
      { statusCode: null },
      { statusCode: 200.5 },
      { statusCode: 101 },
      { statusCode: 600 },
      { statusCode: 200, body: { hello: 'world' } },
      { statusCode: 200, body: 1 },
      { statusCode: 200, headers: { 'X-Number': 1 } },
      { statusCode: 200, headers: { 'X-Null': null } },
      { statusCode: 200, headers: { 'X-List': ['a'] } },
      { statusCode: 200, headers: { 'X Space': 'a' } },
      { statusCode: 200, headers: { 'X-Break': 'a\r\nX-More: b' } },
      { statusCode: 200, isBase64Encoded: 'true' },
    ].map((reply): [string, unknown] => ['unverified', reply]),
  ])('is malformed, by row %s, and gets 502 and a line in the log: %j', async (_source, reply) => {
    const logged = gateway.log.length;
    const response = await responseTo(reply);
    expect(response).toMatchObject({ status: 502, body: '{"type":"DEFAULT_5XX"}' });
    expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['InternalServerErrorException']);
    const requestId = valuesOf(response, 'x-amzn-requestid')[0];
    expect(gateway.log.slice(logged)).toEqual([expect.stringContaining(`${requestId} `)]);
  });

  it('is sent with its headers and the ids of the request (63 LSλ, 67, 72 NET)', async () => {
    const response = await responseTo({
      statusCode: 201,
      headers: { 'Content-Type': 'text/plain', 'X-Case': 'kept', 'X-Flag': true },
      body: 'héllo',
    });
    expect(response).toMatchObject({ status: 201, body: 'héllo' });
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

  it('is JSON when it names no type, and has length 0 without a body (65, 66 LSλ)', async () => {
    const response = await responseTo({ statusCode: 200 });
    expect(valuesOf(response, 'content-type')).toEqual(['application/json']);
    expect(valuesOf(response, 'content-length')).toEqual(['0']);
  });

  it('has a line for each value of a name (69 NET), and a pair of both maps once', async () => {
    const response = await responseTo({
      statusCode: 200,
      headers: { Link: '<a>', 'x-one': 'single' },
      multiValueHeaders: { Link: ['<a>', '<b>'], 'X-One': ['multi'] },
    });
    expect(valuesOf(response, 'link')).toEqual(['<a>', '<b>']);
    expect(valuesOf(response, 'x-one').sort()).toEqual(['multi', 'single']);
  });

  it.each([
    'WWW-Authenticate',
    'Authorization',
    'Connection',
    'Content-Length',
    'Content-MD5',
    'Date',
    'Max-Forwards',
    'Server',
    'User-Agent',
    'x-amzn-RequestId',
  ])('has its %s renamed (77 LSreg, LShttp)', async (name) => {
    const response = await responseTo({ statusCode: 200, headers: { [name]: 'mine' }, body: 'ok' });
    expect(valuesOf(response, `x-amzn-remapped-${name}`)).toEqual(['mine']);
    expect(valuesOf(response, name)).not.toContain('mine');
  });

  it.each(['Transfer-Encoding', 'Upgrade', 'Trailer', 'TE', 'Via', 'Host'])(
    'loses its %s (unverified; 78, 79 differ for another integration)',
    async (name) => {
      const response = await responseTo({
        statusCode: 200,
        headers: { [name]: 'mine' },
        body: 'ok',
      });
      expect(response).toMatchObject({ status: 200, body: 'ok' });
      expect(response.headers.map(([, value]) => value)).not.toContain('mine');
    },
  );
});

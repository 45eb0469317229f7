import { afterAll, describe, expect, it } from 'vitest';
import { headerValuesOf as valuesOf } from '../../lib/api-gateway/proxy-event.ts';
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
    ['unverified', null],
    ['unverified', { statusCode: 101 }],
    ['unverified', { statusCode: 200, body: { hello: 'world' } }],
    ['unverified', { statusCode: 200, headers: { 'X-Number': 1 } }],
  ])('is malformed, by row %s, and gets 502 and a line in the log: %j', async (_source, reply) => {
    const logged = gateway.log.length;
    const response = await responseTo(reply);
    expect(response).toMatchObject({ status: 502, body: '{"type":"DEFAULT_5XX"}' });
    expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['InternalServerErrorException']);
    const requestId = valuesOf(response, 'x-amzn-requestid')[0];
    const line = expect.stringMatching(new RegExp(`^${requestId} [^\\n]+$`));
    expect(gateway.log.slice(logged)).toEqual([line]);
  });

  it('is sent with its headers and the ids of the request (63 LSλ, 67, 69, 72 NET)', async () => {
    const response = await responseTo({
      statusCode: 201,
      headers: { 'Content-Type': 'text/plain', 'X-Case': 'kept', 'X-Flag': true },
      multiValueHeaders: { Link: ['<a>', '<b>'] },
      body: 'héllo',
    });
    expect(response).toMatchObject({ status: 201, body: 'héllo' });
    expect(response.headers).toEqual(
      expect.arrayContaining([
        ['Content-Type', 'text/plain'],
        ['X-Case', 'kept'],
        ['X-Flag', 'true'],
        ['Link', '<a>'],
        ['Link', '<b>'],
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

  it('has headers of the gateway itself renamed (77 LSreg, LShttp)', async () => {
    const names = [
      ...['WWW-Authenticate', 'Authorization', 'Connection', 'Content-Length', 'Content-MD5'],
      ...['Date', 'Max-Forwards', 'Server', 'User-Agent', 'x-amzn-RequestId'],
    ];
    const headers = Object.fromEntries(names.map((name) => [name, 'mine']));
    const response = await responseTo({ statusCode: 200, headers, body: 'ok' });
    expect(response).toMatchObject({ status: 200, body: 'ok' });
    for (const name of names) {
      expect(valuesOf(response, `x-amzn-remapped-${name}`)).toEqual(['mine']);
      expect(valuesOf(response, name)).not.toContain('mine');
    }
  });
});

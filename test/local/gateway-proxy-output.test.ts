import { describe, expect, it } from 'vitest';
import { headerValuesOf as valuesOf } from '../../lib/gateway-events/gateway-request.ts';
import { startTestGateway } from './test-gateway.ts';

// The sources of what AWS was recorded to do are linked in infra/local/aws-behaviour.md.

const gateway = await startTestGateway();

/** Returns the response to a request whose function returns this output. */
const responseTo = (output: unknown) =>
  gateway.request('/v1/output', { method: 'POST', body: JSON.stringify(output) });

describe('the output of a function', () => {
  // LocalStack.
  it('keeps base64', async () => {
    const output = { statusCode: 200, body: 'aGk=', isBase64Encoded: true };
    expect(await responseTo(output)).toMatchObject({ status: 200, body: 'aGk=' });
  });

  it.each<[kind: string, output: unknown]>([
    // LocalStack, aws-lambda-dotnet. Unverified: its type of gateway response.
    ['a word as status', { statusCode: 'test' }],
    ['a key beside those of the format', { statusCode: 200, cookies: [] }],
    ['a string', 'hello'],
    ['text instead of a list of values', { statusCode: 200, multiValueHeaders: { 'X-Text': 'a' } }],
    // Unverified.
    ['null', null],
    ['an object as body', { statusCode: 200, body: { hello: 'world' } }],
    ['a number as header', { statusCode: 200, headers: { 'X-Number': 1 } }],
  ])('is malformed and gets 502 and a line in the log: %s: %j', async (_kind, output) => {
    const logged = gateway.log.length;
    const response = await responseTo(output);
    expect(response).toMatchObject({ status: 502, body: '{"type":"DEFAULT_5XX"}' });
    expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['InternalServerErrorException']);
    const requestId = valuesOf(response, 'x-amzn-requestid')[0];
    const line = expect.stringMatching(new RegExp(`^${requestId} [^\\n]+$`));
    expect(gateway.log.slice(logged)).toEqual([line]);
  });

  // LocalStack, aws-lambda-dotnet.
  it('is sent with its headers and the ids of the request', async () => {
    const response = await responseTo({
      statusCode: 201,
      headers: { 'Content-Type': 'text/plain', 'X-Case': 'kept' },
      multiValueHeaders: { Link: ['<a>', '<b>'] },
      body: 'héllo',
    });
    expect(response).toMatchObject({ status: 201, body: 'héllo' });
    expect(response.headers).toEqual(
      expect.arrayContaining([
        ['Content-Type', 'text/plain'],
        ['X-Case', 'kept'],
        ['Link', '<a>'],
        ['Link', '<b>'],
        ['Content-Length', '6'],
        ['x-amzn-RequestId', expect.stringMatching(/^[0-9a-f-]{36}$/)],
        ['x-amz-apigw-id', expect.any(String)],
        ['X-Amzn-Trace-Id', expect.stringMatching(/^Root=/)],
      ]),
    );
  });

  // LocalStack.
  it('is JSON when it names no type, and has length 0 without a body', async () => {
    const response = await responseTo({ statusCode: 200 });
    expect(valuesOf(response, 'content-type')).toEqual(['application/json']);
    expect(valuesOf(response, 'content-length')).toEqual(['0']);
  });

  // LocalStack.
  it('has headers of the gateway itself renamed', async () => {
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

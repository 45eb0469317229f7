import { describe, expect, it, vi } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

// The sources of what AWS was recorded to do are linked in infra/local/aws-behaviour.md.

const gateway = await startTestGateway();

const failed = { status: 503, body: '{"type":"INTEGRATION_FAILURE"}' };

describe('a function that fails', () => {
  it.each<[what: string, path: string, reason: RegExp]>([
    // DataBiosphere/azul#6624
    ['throws an error', '/v1/fail/throws', /thrown on purpose/],
    // DataBiosphere/azul#8192
    ['cannot be loaded', '/v1/broken', /broken on purpose/],
    ['ends its process', '/v1/fail/exits', /environment ended/],
    ['fills its memory', '/v1/fail/fills-memory', /memory/],
    // Unverified.
    ['computes until its time-out', '/v1/stuck/loops', /timed out after 0.5 s/],
  ])(
    'gets INTEGRATION_FAILURE, is logged with the reason, and starts again when it %s',
    async (_what, path, reason) => {
      const before = gateway.log.length;
      expect(await gateway.request(path)).toMatchObject(failed);
      expect(gateway.log.slice(before).join('\n')).toMatch(reason);
      const sibling = path.replace(/\/(fail|stuck)\/.*/, '/$1/not');
      const expected = sibling === path ? failed : { status: 200, body: 'fine' };
      expect(await gateway.request(sibling)).toMatchObject(expected);
    },
  );

  it('has the stack of an error that its chain handled logged, and not in the response', async () => {
    expect(await gateway.request('/v1/caught')).toMatchObject({ status: 500, body: 'no stack' });
    expect(gateway.log.at(-1)).toMatch(/^RangeError: caught on purpose\n +at /);
  });

  // Unverified.
  it('gets 502 when it has no result', async () => {
    expect((await gateway.request('/v1/fail/nothing')).status).toBe(502);
  });
});

describe('an execution environment', () => {
  it('has the variables of the template and of Lambda, and of this process only the endpoints of services', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', 'http://127.0.0.1:2');
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:3');
    const { env, context, remaining } = JSON.parse((await gateway.request('/v1/pets/7')).body);
    expect(env).toMatchObject({
      TABLE: 'Table',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:2',
      AWS_LAMBDA_FUNCTION_NAME: 'Echo',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_REGION: expect.any(String),
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^[A-Za-z0-9]+$/),
      _HANDLER: 'Echo.handler',
    });
    expect(env).not.toHaveProperty('PATH');
    expect(context).toMatchObject({ functionName: 'Echo', functionVersion: '$LATEST' });
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(25_000);
  });

  it('takes one invocation at a time and is used again', async () => {
    const requests = Array.from({ length: 4 }, () => gateway.request('/v1/slow?ms=50'));
    const bodies = (await Promise.all(requests)).map(({ body }) => JSON.parse(body));
    expect(bodies).toEqual([1, 2, 3, 4].map((handled) => ({ running: 0, handled })));
  });
});

it('the gateway writes no API key to the log or into an error of its own', async () => {
  const apiKey = `pets_test_0123456789abcdef_${'a'.repeat(72)}`;
  const headers = { Authorization: `Bearer ${apiKey}` };
  for (const path of ['/', '/v2', '/v1/fail/throws', '/v1/broken']) {
    expect(JSON.stringify(await gateway.request(path, { headers }))).not.toContain(apiKey);
  }
  expect(gateway.log.length).toBeGreaterThan(0);
  expect(gateway.log.join('\n')).not.toContain(apiKey);
});

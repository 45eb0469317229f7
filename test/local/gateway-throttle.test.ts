import { describe, expect, it, onTestFinished } from 'vitest';
import { headerValuesOf as valuesOf } from '../../lib/api-gateway/proxy-event.ts';
import { startTestGateway, testGatewayResponses } from '../support/test-gateway.ts';

const startGatewayForTest = async (options: Parameters<typeof startTestGateway>[1] = {}) => {
  const gateway = await startTestGateway(testGatewayResponses, options);
  onTestFinished(gateway.stop);
  return gateway;
};

describe('the throttle', () => {
  const statuses = async (path: string, options?: Parameters<typeof startTestGateway>[1]) => {
    const gateway = await startGatewayForTest(options);
    const responses = await Promise.all(Array.from({ length: 6 }, () => gateway.request(path)));
    return responses.map(({ status }) => status).sort();
  };

  it('is off by default', async () => {
    expect(await statuses('/v1/throttled')).toEqual(Array(6).fill(200));
  });

  it.each<[what: string, path: string, throttle: true | number, allowed: number]>([
    ["of the stage allows a method's burst", '/v1/throttled', true, 2],
    ['of the stage leaves other methods alone', '/v1/pets/7', true, 6],
    ['of a given number allows as many requests', '/v1/pets/7', 3, 3],
  ])('%s', async (_what, path, throttle, allowed) => {
    const expected = [...Array(allowed).fill(200), ...Array(6 - allowed).fill(429)];
    expect(await statuses(path, { throttle })).toEqual(expected);
  });

  it('allows requests again at its rate, and responds with THROTTLED before', async () => {
    const gateway = await startGatewayForTest({ throttle: 1 });
    expect((await gateway.request('/v1/pets/7')).status).toBe(200);
    const refused = await gateway.request('/v1/pets/7');
    expect(refused).toMatchObject({ status: 429, body: '{"type":"THROTTLED"}' });
    expect(valuesOf(refused, 'x-amzn-errortype')).toEqual(['TooManyRequestsException']);
    await expect
      .poll(async () => (await gateway.request('/v1/pets/7')).status, { timeout: 30_000 })
      .toBe(200);
  });
});

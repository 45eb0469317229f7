import { describe, expect, it, onTestFinished } from 'vitest';
import { Throttles } from '../../infra/local/gateway/throttles.ts';
import { headerValuesOf as valuesOf } from '../../lib/api-gateway/proxy-event.ts';
import { startTestGateway, testGatewayResponses } from '../support/test-gateway.ts';

describe('the throttle of the gateway', () => {
  /** Sends six requests to a gateway of their own, one after the other. */
  const responsesOf = async (path: string, throttle?: true) => {
    const gateway = await startTestGateway(testGatewayResponses, { throttle });
    onTestFinished(gateway.stop);
    const responses = [];
    for (let sent = 0; sent < 6; sent += 1) responses.push(await gateway.request(path));
    return responses;
  };

  it.each<[what: string, path: string, throttle: true | undefined]>([
    ['is off by default', '/v1/throttled', undefined],
    ['leaves methods alone that have none', '/v1/pets/7', true],
  ])('%s', async (_what, path, throttle) => {
    const responses = await responsesOf(path, throttle);
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
  });

  it("allows a method's burst, and then responds with THROTTLED", async () => {
    const responses = await responsesOf('/v1/throttled', true);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429, 429, 429, 429]);
    const [refused] = responses.slice(-1);
    expect(refused?.body).toBe('{"type":"THROTTLED"}');
    expect(refused && valuesOf(refused, 'x-amzn-errortype')).toEqual(['TooManyRequestsException']);
  });
});

describe('Throttles', () => {
  const pets = { method: 'GET', resourcePath: '/pets' };
  const throttled = { ...pets, throttle: { ratePerSecond: 2, burst: 3 } };
  const unthrottled = { ...pets, throttle: undefined };

  it.each<[what: string, throttles: Throttles, route: typeof throttled | typeof unthrottled]>([
    ['the rate and the burst of the route', new Throttles(true), throttled],
    ['a number for every route', new Throttles(3), unthrottled],
  ])('allow %s', (_what, throttles, route) => {
    const allowedAt = (now: number) => {
      let allowed = 0;
      while (allowed < 10 && throttles.allow(route, now)) allowed += 1;
      return allowed;
    };
    expect([0, 10, 1_010, 60_000].map(allowedAt)).toEqual([3, 0, route.throttle ? 2 : 3, 3]);
  });

  it('count the requests of each method for themselves', () => {
    const throttles = new Throttles(1);
    expect(throttles.allow(unthrottled, 0)).toBe(true);
    expect(throttles.allow({ ...unthrottled, method: 'POST' }, 0)).toBe(true);
    expect(throttles.allow(unthrottled, 0)).toBe(false);
  });
});

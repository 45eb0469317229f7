import { expect, it, onTestFinished } from 'vitest';
import { throttleTo } from '../../infra/local/gateway/throttle.ts';
import { headerValuesOf as valuesOf } from '../../lib/api-gateway/proxy-event.ts';
import { startTestGateway } from '../support/test-gateway.ts';

it('a throttled method responds with THROTTLED', async () => {
  const gateway = await startTestGateway({ throttle: 0 });
  onTestFinished(gateway.stop);
  const response = await gateway.request('/v1/pets/7');
  expect(response).toMatchObject({ status: 429, body: '{"type":"THROTTLED"}' });
  expect(valuesOf(response, 'x-amzn-errortype')).toEqual(['TooManyRequestsException']);
});

it('a throttle allows each method its requests per second, and no more after a pause', () => {
  const allows = throttleTo(3);
  const get = { method: 'GET', resourcePath: '/pets' };
  const allowedAt = (now: number) =>
    Array.from({ length: 10 }, () => allows(get, now)).filter((isAllowed) => isAllowed).length;
  expect([0, 10, 1_010, 60_000].map(allowedAt)).toEqual([3, 0, 3, 3]);
  expect(allows({ ...get, method: 'POST' }, 60_000)).toBe(true);
});

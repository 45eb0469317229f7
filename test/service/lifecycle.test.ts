import { afterEach, describe, expect, it, vi } from 'vitest';
import { listPets } from '../../lib/contract/operations.ts';
import { json } from '../../lib/http/response.ts';
import { bearer, getRequest, invoke, startHandlers } from '../support/handlers.ts';

const service = await startHandlers();
const apiKey = await service.issueApiKey();

afterEach(() => void vi.useRealTimers());

const deprecation = {
  Deprecation: '@1795219200',
  Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  Link: '</v1/pets>; rel="successor-version"',
};

describe('getPet', () => {
  it('works until the last millisecond before its sunset', async () => {
    vi.setSystemTime(Date.UTC(2030, 11, 5) - 1);
    const { status, headers } = await invoke(service.getPet, getRequest(apiKey, 1));
    expect(status).toBe(404);
    expect(headers).toMatchObject(deprecation);
  });

  it('returns 410 from its sunset on, and names its successor', async () => {
    for (const instant of [Date.UTC(2030, 11, 5), Date.UTC(2040, 0, 1)]) {
      vi.setSystemTime(instant);
      const { status, body, headers } = await invoke(service.getPet, getRequest(apiKey, 1));
      expect(status).toBe(410);
      expect(body).toEqual({
        code: 'endpoint_removed',
        message: 'This endpoint has been removed. Use GET /pets instead.',
        status: 410,
      });
      expect(headers).toMatchObject(deprecation);
    }
  });

  it('returns 401 without a valid key, also after its sunset', async () => {
    vi.setSystemTime(Date.UTC(2031, 0, 1));
    const { status, headers } = await invoke(service.getPet, getRequest('no key', 1));
    expect(status).toBe(401);
    expect(headers).toMatchObject(deprecation);
  });

  it('asks DynamoDB nothing for an id that no pet can have', async () => {
    await invoke(service.getPet, getRequest(apiKey, 1));
    service.proxy.reset();
    for (const id of ['abc', '0', '007', '9007199254740992', '1'.repeat(300), '%31', '']) {
      expect((await invoke(service.getPet, getRequest(apiKey, id))).status).toBe(404);
    }
    expect(service.proxy.requests).toEqual([]);
  });
});

describe('a stability marker', () => {
  it.each(['experimental', 'beta'] as const)('%s is sent as X-Stability', async (stability) => {
    const { operation } = await import('../../lib/http/operation.ts');
    const handler = operation({ ...listPets, stability }).handler(async () => json(200, []));
    const { headers } = await invoke(handler, { headers: bearer(apiKey) });
    expect(headers).toMatchObject({ 'X-Stability': stability });
  });
});

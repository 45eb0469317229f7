import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faults } from './fault-proxy.ts';
import { createRequest, invoke, startHandlers } from './handlers.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let warmUp: () => Promise<void>;

beforeAll(async () => {
  service = await startHandlers();
  ({ warmUp } = await import('../lib/keys/find-api-key.ts'));
});

beforeEach(() => {
  service.proxy.reset();
});

describe('warming up', () => {
  it('costs one read of the keys table', async () => {
    await warmUp();
    expect(service.proxy.requests).toEqual(['GetItem Keys']);
  });

  it.each(Object.keys(faults) as (keyof typeof faults)[])(
    'never fails, and no request after it: %s',
    async (fault) => {
      service.proxy.inject('GetItem Keys', faults[fault]);
      await warmUp();
      service.proxy.reset();
      const apiKey = await service.issueApiKey();
      expect((await invoke(service.createPet, createRequest(apiKey))).status).toBe(201);
    },
  );
});

import { beforeEach, describe, expect, it } from 'vitest';
import { faults } from '../support/fault-proxy.ts';
import {
  captureLog,
  createRequest,
  invoke,
  readLines,
  startHandlers,
} from '../support/handlers.ts';

const service = await startHandlers();
// Imported after its environment is set.
const { warmUp } = await import('../../lib/keys/find-api-key.ts');

beforeEach(() => service.proxy.reset());

describe('warming up', () => {
  it('costs one read of the keys table', async () => {
    await warmUp();
    expect(service.proxy.requests).toEqual(['GetItem Keys']);
  });

  it.each([
    ['succeeds', () => {}],
    ['is throttled', () => service.proxy.inject('GetItem Keys', faults.throttled)],
  ])('is in the metrics of no request when it %s', async (_outcome, prepare) => {
    prepare();
    await warmUp();
    const lines = captureLog();
    await invoke(service.listPets, {});
    const [metrics] = readLines(lines);
    expect(metrics).toMatchObject({ operation: 'listPets', Requests: 1 });
    expect(metrics).not.toHaveProperty('DynamoDBLatency');
    expect(metrics).not.toHaveProperty('Throttles');
  });

  it.each(Object.entries(faults))(
    'never fails, and no request after it: %s',
    async (_name, fault) => {
      service.proxy.inject('GetItem Keys', fault);
      await warmUp();
      service.proxy.reset();
      const apiKey = await service.issueApiKey();
      expect((await invoke(service.createPet, createRequest(apiKey))).status).toBe(201);
    },
  );
});

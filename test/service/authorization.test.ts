import { beforeAll, describe, expect, it } from 'vitest';
import { invoke, startHandlers } from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;

beforeAll(async () => {
  service = await startHandlers();
  apiKey = await service.issueApiKey();
});

// HTTP/2 clients send header names in lower case, and API Gateway hands names on as they came (aws-recorded.md, rows 19 and 20).
describe.each(['Authorization', 'authorization', 'AUTHORIZATION', 'aUTHORIZATION'])(
  'the header %s',
  (name) => {
    it('carries the API key', async () => {
      const headers = { [name]: `Bearer ${apiKey}` };
      expect((await invoke(service.listPets, { headers })).status).toBe(200);
    });

    it.each<[kind: string, headers: (valid: string) => NonNullable<EventParts['headers']>]>([
      ['is empty', () => ({ [name]: '' })],
      ['has no key', () => ({ [name]: 'Bearer ' })],
      ['is given twice', (valid) => ({ [name]: [valid, valid] })],
      ['is given beside another spelling', (valid) => ({ [name]: valid, AuthorizatioN: valid })],
    ])('gets 401 when it %s', async (_kind, headersWith) => {
      const headers = headersWith(`Bearer ${apiKey}`);
      const { status, body } = await invoke(service.listPets, { headers });
      expect(status).toBe(401);
      expect(body.code).toBe('unauthorized');
    });
  },
);

describe('a request without Authorization', () => {
  it.each(['listPets', 'createPet', 'getPet'] as const)(
    'to %s gets 401, and asks DynamoDB nothing',
    async (operation) => {
      service.proxy.reset();
      const { status, headers, body } = await invoke(service[operation], {});
      expect(status).toBe(401);
      expect(body.code).toBe('unauthorized');
      expect(headers['WWW-Authenticate']).toBe('Bearer');
      expect(service.proxy.requests).toEqual([]);
    },
  );
});

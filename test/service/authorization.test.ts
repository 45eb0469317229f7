import { beforeAll, describe, expect, it } from 'vitest';
import { invoke, startHandlers } from '../support/handlers.ts';

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
      const { status } = await invoke(service.listPets, {
        headers: { [name]: `Bearer ${apiKey}` },
      });
      expect(status).toBe(200);
    });

    it.each(['', ' ', 'Bearer', 'Bearer ', 'Bearer no-key'])(
      'gets 401 with the value %j',
      async (value) => {
        const { status, body } = await invoke(service.listPets, { headers: { [name]: value } });
        expect(status).toBe(401);
        expect(body.code).toBe('unauthorized');
      },
    );

    it('gets 401 beside another spelling of it', async () => {
      const headers = { [name]: `Bearer ${apiKey}`, AuthorizatioN: `Bearer ${apiKey}` };
      expect((await invoke(service.listPets, { headers })).status).toBe(401);
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

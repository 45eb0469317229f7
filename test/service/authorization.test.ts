import { beforeEach, describe, expect, it } from 'vitest';
import { createRequest, invoke, startHandlers } from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

const service = await startHandlers();
const apiKey = await service.issueApiKey();
const valid = `Bearer ${apiKey}`;

beforeEach(() => service.proxy.reset());

// HTTP/2 clients send header names in lower case, and API Gateway hands names on as they came (aws-recorded.md, rows 19 and 20).
describe('Authorization', () => {
  it.each(['Authorization', 'authorization', 'AUTHORIZATION', 'aUTHORIZATION'])(
    'carries the API key when it is spelled %s',
    async (name) => {
      const { status } = await invoke(service.listPets, { headers: { [name]: valid } });
      expect(status).toBe(200);
    },
  );

  it.each<[kind: string, headers: NonNullable<EventParts['headers']>]>([
    ['is missing', {}],
    ['is empty', { authorization: '' }],
    ['has no key', { Authorization: 'Bearer ' }],
    ['is given twice', { authorization: [valid, valid] }],
    ['is given in two spellings', { Authorization: valid, authorization: valid }],
  ])('gets 401 when it %s, and DynamoDB no request', async (_kind, headers) => {
    for (const operation of ['listPets', 'createPet', 'getPet'] as const) {
      const response = await invoke(service[operation], { ...createRequest(apiKey), headers });
      expect(response.status).toBe(401);
      expect(response.body.code).toBe('unauthorized');
      expect(response.headers['WWW-Authenticate']).toBe('Bearer');
    }
    expect(service.proxy.requests).toEqual([]);
  });
});

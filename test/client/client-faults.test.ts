import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { AnimalStore } from '../../lib/client/animal-store.ts';
import { type Fault, FaultProxy, faults } from '../support/fault-proxy.ts';

const { origin, pathname } = new URL(inject('baseAddress'));
const proxy = new FaultProxy(origin);
let store: AnimalStore;

beforeAll(async () => {
  const baseAddress = (await proxy.listen()) + pathname;
  store = new AnimalStore({ baseAddress, apiKey: inject('apiKey') });
});

afterEach(() => proxy.reset());

afterAll(() => proxy.refuseConnections());

const refusal =
  (status: number, code: string, headers: Record<string, string> = {}): Fault =>
  ({ response }) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify({ code, message: 'Injected.', status }));
  };

const passing: readonly (readonly [kind: string, fault: Fault])[] = [
  ['a lost request', faults.resetBeforeForwarding],
  ['a lost answer', faults.resetAfterForwarding],
  ['a 429', refusal(429, 'too_many_requests', { 'Retry-After': '1' })],
  ['a 502', refusal(502, 'bad_gateway')],
  ['a 503', refusal(503, 'service_unavailable', { 'Retry-After': '1' })],
  [
    'a 504 after the pet was added',
    async ({ response, forward }) => {
      await forward();
      response.writeHead(504, { 'Content-Type': 'application/json' }).end('{}');
    },
  ],
];

const namesOf = async (name: string) => {
  const found: string[] = [];
  for await (const pet of store.listPets({ limit: 100 })) if (pet.name === name) found.push(name);
  return found;
};

describe('the typed client while the service fails', () => {
  it.each(passing)('adds a pet exactly once in spite of %s', async (_kind, fault) => {
    const name = randomUUID();
    proxy.inject('POST /v1/pets', fault, 1);
    expect(await store.createPet({ name, categoryId: 1 })).toMatchObject({ name });
    expect(proxy.requests).toEqual(['POST /v1/pets', 'POST /v1/pets']);
    await expect.poll(() => namesOf(name), { timeout: 20_000 }).toEqual([name]);
  });

  it.each(passing)('lists pets in spite of %s', async (_kind, fault) => {
    await store.createPet({ name: 'Rex', categoryId: 1 });
    proxy.inject('GET /v1/pets', fault, 1);
    expect((await store.listPets({ limit: 1 }).next()).value).toHaveProperty('id');
  });

  it('gives up after four attempts, with the last error of the service', async () => {
    proxy.inject('GET /v1/pets/1', refusal(503, 'service_unavailable', { 'Retry-After': '0' }));
    await expect(store.getPet(1)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(proxy.requests).toHaveLength(4);
  });

  it.each([
    [400, 'invalid_request'],
    [422, 'idempotency_key_reused'],
    [500, 'internal_error'],
  ])('asks once where another attempt mends nothing: %i', async (status, code) => {
    proxy.inject('POST /v1/pets', refusal(status, code));
    await expect(store.createPet({ name: 'Rex', categoryId: 1 })).rejects.toMatchObject({ code });
    expect(proxy.requests).toHaveLength(1);
  });

  it('says so when there is no answer at all', async () => {
    proxy.inject('GET /v1/pets/1', faults.resetBeforeForwarding);
    await expect(store.getPet(1)).rejects.toMatchObject({ name: 'NetworkError' });
    expect(proxy.requests).toHaveLength(4);
  });

  it('fetches a page when the loop gets there, and not before', async () => {
    await Promise.all(['Rex', 'Mia'].map((name) => store.createPet({ name, categoryId: 1 })));
    proxy.reset();
    const pets = store.listPets({ limit: 1 });
    expect(proxy.requests).toHaveLength(0);
    await pets.next();
    expect(proxy.requests).toHaveLength(1);
    await pets.next();
    expect(proxy.requests).toHaveLength(2);
  });

  it('takes its API key to no other host', async () => {
    proxy.inject('GET /v1/pets', ({ response }) => {
      response.writeHead(200, {
        'Content-Type': 'application/json',
        Link: '<http://other.example/v1/pets>; rel="next"',
      });
      response.end('[]');
    });
    await expect(store.listPets().next()).rejects.toThrow('another host');
  });
});

import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import {
  AnimalStore,
  AnimalStoreError,
  NetworkError,
  TimeoutError,
} from '../../lib/client/animal-store.ts';
import { answer, type Fault, FaultProxy, faults, stalls } from '../support/fault-proxy.ts';

const { origin, pathname } = new URL(inject('baseAddress'));
const proxy = new FaultProxy(origin);
let store: AnimalStore;
/** A client with a short time-out. */
let impatient: AnimalStore;

beforeAll(async () => {
  const baseAddress = (await proxy.listen()) + pathname;
  store = new AnimalStore({ baseAddress, apiKey: inject('apiKey'), timeoutMs: 5_000 });
  impatient = new AnimalStore({ baseAddress, apiKey: inject('apiKey'), timeoutMs: 500 });
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
  ['a body that is cut', faults.halfABody],
  ['a body that stalls', stalls.headersThenHang],
  ['a 429', refusal(429, 'too_many_requests', { 'Retry-After': '1' })],
  ['a 502', refusal(502, 'bad_gateway')],
  ['a 503', refusal(503, 'service_unavailable', { 'Retry-After': '0' })],
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
  it.each(passing)('adds a pet exactly once and lists it in spite of %s', async (_kind, fault) => {
    const name = randomUUID();
    proxy.inject('POST /v1/pets', fault, 1);
    proxy.inject('GET /v1/pets', fault, 1);
    expect(await store.createPet({ name, categoryId: 1 })).toMatchObject({ name });
    expect((await store.listPetsPage()).pets).not.toEqual([]);
    const requests = ['POST /v1/pets', 'POST /v1/pets', 'GET /v1/pets', 'GET /v1/pets'];
    expect(proxy.requests).toEqual(requests);
    await expect.poll(() => namesOf(name), { timeout: 20_000 }).toEqual([name]);
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [422, 'idempotency_key_reused'],
    [500, 'internal_error'],
  ])('sends a request once for a status that a retry cannot change: %i', async (status, code) => {
    proxy.inject('POST /v1/pets', refusal(status, code));
    await expect(store.createPet({ name: 'Rex', categoryId: 1 })).rejects.toMatchObject({ code });
    expect(proxy.requests).toHaveLength(1);
  });

  it.each<[kind: string, fault: Fault, error: Error['constructor'], expected: object]>([
    ['there is no answer', faults.resetBeforeForwarding, NetworkError, { name: 'NetworkError' }],
    ['each body is cut', faults.halfABody, NetworkError, { name: 'NetworkError' }],
    ['the answer takes too long', stalls.hang, TimeoutError, { name: 'TimeoutError' }],
    ['each body stalls', stalls.headersThenHang, TimeoutError, { name: 'TimeoutError' }],
    [
      'the answer is not an Error body',
      faults.status502,
      AnimalStoreError,
      { code: 'unexpected_response', status: 502 },
    ],
    [
      'the service stays unavailable',
      refusal(503, 'service_unavailable', { 'Retry-After': '0' }),
      AnimalStoreError,
      { code: 'service_unavailable', status: 503 },
    ],
  ])(
    'gives up after four attempts, without the API key in its exported error, when %s',
    async (_kind, fault, error, expected) => {
      proxy.inject('GET /v1/pets/1', fault);
      const thrown = await impatient.getPet(1).catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(error);
      expect(thrown).toMatchObject(expected);
      expect(inspect(thrown, { depth: 9 })).not.toContain(inject('apiKey'));
      expect(proxy.requests).toHaveLength(4);
    },
  );

  it.each<[body: string, fault: Fault]>([
    ['HTML', faults.html],
    ['an empty body', faults.emptyAnswer],
    ['null', faults.null],
    ['an array of null', answer('[null]')],
    ['a pet without its fields', answer('{"id":1}')],
  ])('throws unexpected_response for a 200 with %s', async (_body, fault) => {
    proxy.inject('*', fault);
    const rex = { name: 'Rex', categoryId: 1 };
    const calls = [store.getPet(1), store.createPet(rex), store.listPets().next()];
    const reason = { name: 'AnimalStoreError', code: 'unexpected_response', status: 200 };
    for (const outcome of await Promise.allSettled(calls))
      expect(outcome).toMatchObject({ reason });
    expect(proxy.requests).toHaveLength(calls.length);
  });

  it('retries a body that a browser loses with words of its own', async () => {
    const broken = new ReadableStream({
      start: (body) => body.error(new TypeError('Error in body stream')),
    });
    const responses = [new Response(broken), new Response('[]')];
    const browser = new AnimalStore({
      baseAddress: 'http://127.0.0.1/v1',
      apiKey: inject('apiKey'),
      fetch: async () => responses.shift() ?? Response.error(),
    });
    expect(await browser.listPetsPage()).toEqual({ pets: [], nextCursor: undefined });
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

  it('sends its API key to no other host', async () => {
    const Link = '<http://other.example/v1/pets?cursor=next>; rel="next"';
    const page: Fault = ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json', Link }).end('[]');
    };
    proxy.inject('GET /v1/pets', page, 1);
    await expect(store.listPets().next()).rejects.toMatchObject({ code: 'invalid_request' });
    expect(proxy.requests).toEqual(['GET /v1/pets', 'GET /v1/pets']);
  });
});

describe('the typed client', () => {
  it('fetches one page, and the next from its cursor', async () => {
    await Promise.all(['Rex', 'Mia'].map((name) => store.createPet({ name, categoryId: 1 })));
    const query = { limit: 1, status: undefined };
    await vi.waitFor(async () => {
      const first = await store.listPetsPage(query);
      const second = await store.listPetsPage({ ...query, cursor: first.nextCursor });
      const both = await store.listPetsPage({ limit: 2 });
      expect([...first.pets, ...second.pets]).toEqual(both.pets);
      expect(both.pets).toHaveLength(2);
    }, 20_000);
  });

  it.each([2 ** 53, -(2 ** 60), 1.5, Number.NaN])(
    'sends no categoryId that is not exact: %s',
    async (categoryId) => {
      await expect(store.createPet({ name: 'Rex', categoryId })).rejects.toThrow('bigint');
      expect(proxy.requests).toEqual([]);
    },
  );

  it.each([1.5, Number.NaN, 2 ** 53, '../pets?limit=1', '1', undefined])(
    'asks for no id that is not an integer: %s',
    async (id) => {
      const call: unknown = Reflect.apply(store.getPet, store, [id]);
      await expect(call).rejects.toThrow('id must be an integer');
      expect(proxy.requests).toEqual([]);
    },
  );

  it('stops when its signal is aborted', async () => {
    proxy.inject('GET /v1/pets/1', stalls.headersThenHang);
    const controller = new AbortController();
    const call = store.getPet(1, { signal: controller.signal });
    await expect.poll(() => proxy.requests).toHaveLength(1);
    controller.abort(new Error('no longer needed'));
    await expect(call).rejects.toThrow('no longer needed');
  });
});

import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  AnimalStore,
  AnimalStoreError,
  type AnimalStoreOptions,
  type CallOptions,
  NetworkError,
  TimeoutError,
} from '../../lib/client/animal-store.ts';
import { nextPageQuery } from '../../lib/client/response-headers.ts';
import { errors } from '../../lib/contract/errors.ts';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { type Fault, FaultProxy, faults, respondWith, stalls } from '../support/fault-proxy.ts';
import { shared } from '../support/shared.ts';

const { origin, pathname } = new URL(shared('baseAddress'));
const apiKey = shared('apiKey');
const rex = { name: 'Rex', categoryId: 1 };
const pet = { id: 1, ...rex, status: 'available' };

/** Starts a client behind a proxy of its own, because the tests run at the same time. */
const behindProxy = async (timeoutMs = 20_000) => {
  const proxy = new FaultProxy(origin);
  const baseAddress = (await proxy.listen()) + pathname;
  return { proxy, store: new AnimalStore({ baseAddress, apiKey, timeoutMs }) };
};

const clientWith = (fetch: AnimalStoreOptions['fetch'], options = {}) =>
  new AnimalStore({ baseAddress: 'http://127.0.0.1/v1', apiKey, fetch, ...options });

const pageWith = (Link: string) => async () => Response.json([pet], { headers: { Link } });

const refusal =
  (status: number, code: string, headers: Record<string, string> = {}): Fault =>
  ({ response }) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify({ code, message: 'Injected.', status }));
  };

const unavailable = refusal(503, 'service_unavailable', { 'Retry-After': '0' });

const timedOutAfterForwarding: Fault = async (exchange) => {
  await exchange.forward();
  await refusal(504, 'gateway_timeout')(exchange);
};

describe.concurrent('the typed client', () => {
  it.each<[kind: string, fault: Fault, timeoutMs?: number]>([
    ['a lost request', faults.resetBeforeForwarding],
    ['a lost response', faults.resetAfterForwarding],
    ['a body that is cut', faults.halfABody],
    ['a body that stalls', stalls.headersThenHang, 8_000],
    ['a 429', refusal(429, 'too_many_requests', { 'Retry-After': '1' })],
    ['a 502', refusal(502, 'bad_gateway')],
    ['a 503', unavailable],
    ['a 504 after the pet was added', timedOutAfterForwarding],
  ])('adds a pet exactly once and lists it in spite of %s', async (_kind, fault, timeoutMs) => {
    const { proxy, store } = await behindProxy(timeoutMs);
    const name = randomUUID();
    proxy.inject('POST /v1/pets', fault, 1);
    proxy.inject('GET /v1/pets', fault, 1);
    await Promise.all([store.createPet({ name, categoryId: 1 }), store.listPetsPage()]);
    const requests = ['GET /v1/pets', 'GET /v1/pets', 'POST /v1/pets', 'POST /v1/pets'];
    expect(proxy.requests.toSorted()).toEqual(requests);
    await vi.waitFor(async () => {
      const pets = await Array.fromAsync(store.listPets({ limit: maxLimit }));
      expect(pets.filter((pet) => pet.name === name)).toHaveLength(1);
    }, 20_000);
  });

  it.each([400, 401, 422, 500])(
    'sends a request once for a status that a retry cannot change: %i',
    async (status) => {
      const { proxy, store } = await behindProxy();
      proxy.inject('POST /v1/pets', refusal(status, 'refused'));
      await expect(store.createPet(rex)).rejects.toMatchObject({ status, code: 'refused' });
      expect(proxy.requests).toHaveLength(1);
    },
  );

  it.each<[kind: string, fault: Fault, error: Error['constructor'], code?: string]>([
    ['there is no response', faults.resetBeforeForwarding, NetworkError],
    ['each body is cut', faults.halfABody, NetworkError],
    ['the response takes too long', stalls.hang, TimeoutError],
    ['each body stalls', stalls.headersThenHang, TimeoutError],
    ['no response is an Error body', faults.status502, AnimalStoreError, 'unexpected_response'],
    ['the service stays unavailable', unavailable, AnimalStoreError, 'service_unavailable'],
  ])(
    'gives up after four attempts, without the API key in its exported error, when %s',
    async (_kind, fault, error, code) => {
      const { proxy, store } = await behindProxy(error === TimeoutError ? 2_000 : undefined);
      proxy.inject('GET /v1/pets/1', fault);
      const thrown = await store.getPet(1).catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(error);
      expect(thrown).toMatchObject({ name: error.name, ...(code && { code }) });
      expect(inspect(thrown, { depth: 9 })).not.toContain(apiKey);
      expect(proxy.requests).toHaveLength(4);
    },
  );

  it.each<[body: string, fault: Fault]>([
    ['HTML', faults.html],
    ['an empty body', faults.emptyResponse],
    ['null', respondWith('null')],
    ['an array of null', respondWith('[null]')],
  ])('throws unexpected_response for a 200 with %s', async (_body, fault) => {
    const { proxy, store } = await behindProxy();
    proxy.inject('*', fault);
    const calls = [store.getPet(1), store.createPet(rex), store.listPets().next()];
    const reason = { name: 'AnimalStoreError', code: 'unexpected_response', status: 200 };
    for (const outcome of await Promise.allSettled(calls))
      expect(outcome).toMatchObject({ reason });
    expect(proxy.requests).toHaveLength(calls.length);
  });

  const elsewhere = '{"message":"Forbidden"}';
  const notFound = JSON.stringify(errors.notFound().body);
  it.each([
    ['', 403, elsewhere, /403 is not from the animal store\. The baseAddress may lack \/v1$/],
    ['/v1', 403, elsewhere, /403 is not from the animal store$/],
    ['/v1', 302, elsewhere, /redirect.* check baseAddress$/],
    ['/v1', 404, notFound, /could not be found\.$/],
    // A proxy may hide the version.
    ['/animals', 404, notFound, /could not be found\.$/],
  ])(
    'says if the base address may be wrong, at %j with %i',
    async (path, status, body, message) => {
      const fetch = async () => new Response(body, { status });
      const store = new AnimalStore({ baseAddress: `https://pets.test${path}`, apiKey, fetch });
      await expect(store.listPetsPage()).rejects.toThrow(message);
    },
  );

  it('removes its API key from an error response that repeats it', async () => {
    const message = `Not a valid header: Bearer ${apiKey}`;
    const body = { code: `no_${apiKey}`, message, status: 403 };
    const init = { status: 403, headers: { 'x-amz-apigw-id': apiKey } };
    const call = clientWith(async () => Response.json(body, init)).getPet(1);
    await expect(call).rejects.toMatchObject({
      code: 'no_<API key>',
      message: 'Not a valid header: Bearer <API key>',
      requestId: '<API key>',
    });
  });

  it('finds the reason of a lost response in a chain of causes that ends in a circle, without the API key', async () => {
    const circle = new Error();
    circle.cause = circle;
    const refusal = new Error(`Proxy response (407) to ${apiKey}`, { cause: circle });
    const cancelled = new Error('Request was cancelled.', { cause: refusal });
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: cancelled }));
    const thrown = await clientWith(fetch)
      .getPet(1)
      .catch((reason: unknown) => reason);
    const message = 'Proxy response (407) to <API key>';
    expect(thrown).toMatchObject({
      name: 'NetworkError',
      message: `No complete response came: ${message}`,
      cause: { message },
    });
    expect(inspect(thrown, { depth: 9 })).not.toContain(apiKey);
  });

  it.each<[what: string, fetch: () => unknown, message: string]>([
    ['throws', () => new URL('not a URL'), 'Invalid URL'],
    ['returns no response', async () => undefined, 'undefined'],
  ])('does not retry a defect: a fetch that %s', async (_what, fetch, message) => {
    const calls = vi.fn(fetch);
    const store = Reflect.construct(AnimalStore, [
      { baseAddress: 'http://127.0.0.1/v1', apiKey, fetch: calls },
    ]);
    const thrown = await store.createPet(rex).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(TypeError);
    expect(thrown).toMatchObject({ message: expect.stringContaining(message) });
    expect(calls).toHaveBeenCalledOnce();
  });

  it('ends a list whose cache or proxy ignores the query', async () => {
    const store = clientWith(pageWith('</v1/pets?cursor=second>; rel="next"'));
    await expect(Array.fromAsync(store.listPets())).rejects.toThrow('does not end');
  });

  const nextCursorOf = async (link: string) =>
    (await clientWith(pageWith(link)).listPetsPage()).nextCursor;

  // The forms that RFC 8288 allows.
  it.each([
    ['</v1/pets?cursor=c%26d>; rel="next"', 'c&d'],
    ['</first?cursor=a>; title="b"; rel="first", </v1/pets?cursor=c>; rel=next,', 'c'],
    ['<pets?cursor=c>;REL="next"', 'c'],
    ['<?cursor=c> ; rel = "next"', 'c'],
    ['<?cursor=c>; rel="prev Next"', 'c'],
    ['<?cursor=c>; title="a \\"quoted\\" text; rel=prev, <other>"; rel="next"', 'c'],
    ['<?a,b;c&cursor=c>; media; rel="next"', 'c'],
    ['</v1/pets?cursor=a>; rel="prev"; title="next"', undefined],
    ['</v1/pets?cursor=a>; title="; rel=next", </about>; rel="nextcloud"', undefined],
    ['</v1/pets?cursor=a>', undefined],
  ])('finds the next page among the links of a proxy: %s', async (link, nextCursor) => {
    expect(await nextCursorOf(link)).toBe(nextCursor);
  });

  it.each(['</v1/pets>; rel="next"', '</v1/pets?cursor=>; rel="next"', '<>; rel=next'])(
    'throws for a next page that it cannot ask for, instead of ending the list: %s',
    async (link) => {
      await expect(nextCursorOf(link)).rejects.toMatchObject({
        code: 'unexpected_response',
        message: 'The response links to a next page without its cursor',
      });
    },
  );

  it.each(['<', '<>', '; ', ' ', '=', '"', ';a', ';a="', ';a="\\', ';a="\\"', '; a = ', ','])(
    'reads a long Link in a time that grows linearly: %j',
    (part) => {
      for (const first of ['', '<>', '<>;a', '<>;rel="']) {
        const start = process.threadCpuUsage();
        expect(nextPageQuery(first + part.repeat(100_000 / part.length))).toBeUndefined();
        // Of this thread, in µs, because other processes may delay it. A linear time takes some 10,000.
        expect(process.threadCpuUsage(start).user).toBeLessThan(1_000_000);
      }
    },
  );

  it('makes a key of 128 bits for each creation: no compression makes them smaller', async () => {
    let keys = '';
    const store = clientWith(async (_url, { headers }) => {
      keys += headers['Idempotency-Key'];
      return Response.json(pet, { status: 201 });
    });
    for (let created = 0; created < 1_000; created += 1) await store.createPet(rex);
    expect(deflateSync(keys).length).toBeGreaterThan((1_000 * 128) / 8);
  });

  it('sends its API key to no other host', async () => {
    const { proxy, store } = await behindProxy();
    const Link = '<http://other.example/v1/pets?cursor=next>; rel="next"';
    const page: Fault = ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json', Link }).end('[]');
    };
    proxy.inject('GET /v1/pets', page, 1);
    await expect(store.listPets().next()).rejects.toMatchObject({ code: 'invalid_request' });
    expect(proxy.requests).toEqual(['GET /v1/pets', 'GET /v1/pets']);
  });

  it('fetches a page when the loop gets there, and the same pages by their cursors', async () => {
    const { proxy, store } = await behindProxy();
    await Promise.all([store.createPet(rex), store.createPet(rex)]);
    await vi.waitFor(async () => {
      proxy.reset();
      const pets = store.listPets({ limit: 1 });
      expect(proxy.requests).toHaveLength(0);
      const one = await pets.next();
      expect(proxy.requests).toHaveLength(1);
      const other = await pets.next();
      expect(proxy.requests).toHaveLength(2);
      const first = await store.listPetsPage({ limit: 1, status: undefined });
      const second = await store.listPetsPage({ limit: 1, cursor: first.nextCursor });
      expect([...first.pets, ...second.pets]).toEqual([one.value, other.value]);
    }, 20_000);
  });

  it('sends no integer that is not exact, no id of another type, and no key that a header cannot carry', async () => {
    const { proxy, store } = await behindProxy();
    for (const categoryId of [2 ** 53, -(2 ** 60), 1.5, Number.NaN])
      await expect(store.createPet({ ...rex, categoryId })).rejects.toThrow('bigint');
    for (const id of [2 ** 53, 1.5, Number.NaN, '../pets?limit=1', '1', undefined]) {
      const call: unknown = Reflect.apply(store.getPet, store, [id]);
      await expect(call).rejects.toThrow('id must be a safe integer: a number of at most 2^53 - 1');
    }
    const call = store.createPet(rex, { idempotencyKey: 'a\nb' });
    await expect(call).rejects.toThrow(RangeError);
    expect(proxy.requests).toEqual([]);
  });

  const baseAddress = 'https://animal-store.example/v1';
  it.each<[option: keyof AnimalStoreOptions, values: unknown[]]>([
    ['apiKey', ['', ' ', `${apiKey} `, `${apiKey}\r\n`, `${apiKey}é`, undefined]],
    ['baseAddress', ['', '/v1', 'animal-store.example/v1', 'ftp://animal-store.example', apiKey]],
    ['baseAddress', [`${baseAddress}?stage=prod`, `${baseAddress}#pets`, undefined]],
    ['baseAddress', ['https://user:password@animal-store.example/v1']],
    // A timer would take these for 1 ms.
    ['timeoutMs', [0, 2 ** 31, '10', null]],
    ['maxRetryWaitMs', [-1, 2 ** 31, '10', null]],
  ])('refuses an invalid %s, and does not repeat it: %j', (option, values) => {
    for (const value of values) {
      const options = { baseAddress, apiKey, [option]: value };
      const construct = () => Reflect.construct(AnimalStore, [options]);
      expect(construct).toThrow(new RegExp(`^${option} must be`));
      expect(construct).not.toThrow(/pets_test|password|ftp:/);
    }
  });
});

// After the others, whose timers these tests would replace.
describe('the typed client, while time passes', () => {
  beforeEach(() => void vi.useFakeTimers());

  it('ends an attempt after 10 s, unless it is told another time limit', async () => {
    const store = clientWith(() => new Promise(() => {}), { maxRetryWaitMs: 0 });
    const message = 'No complete response came within 10000 ms';
    const call = expect(store.getPet(1)).rejects.toMatchObject({ message });
    await vi.advanceTimersByTimeAsync(10_000);
    await call;
  });

  it('waits a random time before each retry, longer each time, and leaves no timer', async () => {
    const pausesWith = async (random: number) => {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const sentAt: number[] = [];
      const store = clientWith(async () => {
        sentAt.push(Date.now());
        throw new TypeError('fetch failed');
      });
      const call = expect(store.getPet(1)).rejects.toThrow('fetch failed');
      await vi.advanceTimersByTimeAsync(5_000);
      expect(sentAt).toHaveLength(4);
      await call;
      expect(vi.getTimerCount()).toBe(0);
      return sentAt.slice(1).map((at, retry) => at - (sentAt[retry] ?? 0));
    };
    const short = await pausesWith(0.2);
    const long = await pausesWith(0.9);
    for (const [retry, ms] of short.entries()) {
      expect(ms).toBeGreaterThan(short[retry - 1] ?? 0);
      expect(long[retry]).toBeGreaterThan(1.2 * ms);
    }
  });

  it.each([
    ['30', {}, 30_000, 2],
    ['31', {}, 31_000, 1],
    ['1', { maxRetryWaitMs: 1_500 }, 1_000, 2],
    // The service sends no date, and the clock of the client may be wrong.
    ['Fri, 31 Dec 9999 23:59:59 GMT', {}, undefined, 4],
  ])('does not wait too long for Retry-After: %s', async (header, options, retryAfterMs, sent) => {
    const { status, body } = errors.tooManyRequests();
    const responses: Response[] = [];
    const store = clientWith(async () => {
      const response = Response.json(body, { status, headers: { 'Retry-After': header } });
      responses.push(response);
      return response;
    }, options);
    const { code } = body;
    const call = expect(store.getPet(1)).rejects.toMatchObject({ code, retryAfterMs });
    await vi.runAllTimersAsync();
    await call;
    expect(responses).toHaveLength(sent);
  });

  /** Every method. `listPets` has read its first page when it waits. */
  const calls = {
    createPet: (store, options) => store.createPet(rex, options),
    getPet: (store, options) => store.getPet(1, options),
    listPetsPage: (store, options) => store.listPetsPage({}, options),
    listPets: (store, options) => Array.fromAsync(store.listPets({}, options)),
  } satisfies Record<keyof AnimalStore, (store: AnimalStore, options: CallOptions) => unknown>;
  const unavailableFor9s = { status: 503, headers: { 'Retry-After': '9' } };
  const waits = {
    'for a response': () => new Promise<Response>(() => {}),
    'for a body': async () => new Response(new ReadableStream()),
    'before a retry': async () => new Response('', unavailableFor9s),
  };
  describe.each(Object.entries(calls))('in a call of %s', (method, call) => {
    it.each(Object.entries(waits))(
      'throws at once, and sends nothing more, when its signal is aborted as it waits %s',
      async (_wait, respond) => {
        const firstPage = pageWith('<?cursor=c>; rel="next"');
        const sent: AbortSignal[] = [];
        const store = clientWith((_url, { signal }) => {
          sent.push(signal);
          return method === 'listPets' && sent.length === 1 ? firstPage() : respond();
        });
        const controller = new AbortController();
        const { signal } = controller;
        const thrown = vi.fn();
        call(store, { signal }).catch(thrown);
        await vi.advanceTimersByTimeAsync(5_000);
        controller.abort('no longer needed');
        call(store, { signal }).catch(thrown);
        await vi.advanceTimersByTimeAsync(0);
        expect(thrown.mock.calls).toEqual([['no longer needed'], ['no longer needed']]);
        expect(sent.filter(({ aborted }) => !aborted)).toEqual([]);
        expect(vi.getTimerCount()).toBe(0);
      },
    );
  });
});

import { NumberValue, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { answer, delayed, faults, stalls } from '../support/fault-proxy.ts';
import {
  bearer,
  captureLog,
  createRequest,
  expectOneFailure,
  fromBundles,
  getRequest,
  type InvokeOptions,
  invoke,
  readLines,
  startHandlers,
} from '../support/handlers.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;
let petId: number;

beforeAll(async () => {
  // Every way through the SDK that a fault opens must have been left in the bundles.
  service = await startHandlers(fromBundles);
  apiKey = await service.issueApiKey();
  // The key stays in the memory of every function, however long the tests take.
  vi.useFakeTimers({ toFake: ['Date'] });
  ({ id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body);
  for (const { run } of operations) await run();
});

beforeEach(() => {
  service.proxy.reset();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const operations = [
  {
    name: 'listPets',
    call: 'Query Pets',
    success: 200,
    run: (options?: InvokeOptions) =>
      invoke(
        service.listPets,
        { headers: bearer(apiKey), query: { status: 'available' } },
        options,
      ),
  },
  {
    name: 'createPet',
    call: 'PutItem Pets',
    success: 201,
    run: (options?: InvokeOptions) => invoke(service.createPet, createRequest(apiKey), options),
  },
  {
    name: 'getPet',
    call: 'GetItem Pets',
    success: 200,
    run: (options?: InvokeOptions) => invoke(service.getPet, getRequest(apiKey, petId), options),
  },
] as const;

const { accessDenied, resourceNotFound, ...passing } = faults;
const transient = Object.entries(passing);
const permanent = Object.entries({ accessDenied, resourceNotFound });

describe.each(operations)('$name', ({ name, call, success, run }) => {
  const expectFailure = async (status: 500 | 503, options: InvokeOptions = {}) => {
    const lines = captureLog();
    const code = status === 503 ? 'service_unavailable' : 'internal_error';
    const response = await run({ ...options, requestId: 'request-42' });
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ code, message: expect.stringMatching(/\S/), status });
    expect(response.headers['Retry-After']).toBe(status === 503 ? '1' : undefined);
    expect(response.text).not.toContain('TABLE-AND-KEY-TEXT');
    expectOneFailure(lines, { operation: name, lambdaRequestId: 'request-42', code });
    vi.restoreAllMocks();
    return JSON.parse(lines[0] ?? '');
  };

  const expectRecovery = async () => {
    service.proxy.reset();
    expect((await run()).status).toBe(success);
  };

  it.each(transient)('succeeds when a fault passes: %s', async (_name, fault) => {
    service.proxy.inject(call, fault, 1);
    expect((await run()).status).toBe(success);
    expect(service.proxy.requests).toEqual([call, call]);
  });

  it('still retries after a long outage', async () => {
    captureLog();
    service.proxy.inject(call, faults.resetBeforeForwarding, 300);
    const failed = await Promise.all(Array.from({ length: 100 }, () => run()));
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([503]));
    service.proxy.reset();
    service.proxy.inject(call, faults.resetAfterForwarding, 2);
    expect((await run()).status).toBe(success);
  });

  it('spends well under a second on throttled attempts', async () => {
    service.proxy.inject(call, faults.throttled, 2);
    expect((await run({ remainingMs: 1_400 })).status).toBe(success);
  });

  it('gives an attempt that hangs a second, and the next one the rest of the time', async () => {
    service.proxy.inject(call, stalls.hang, 1);
    expect((await run({ remainingMs: 2_400 })).status).toBe(success);
  });

  it('succeeds when DynamoDB is slow', async () => {
    service.proxy.inject(call, delayed(300));
    expect((await run()).status).toBe(success);
  });

  it.each(transient)('returns 503 while a fault lasts, and recovers: %s', async (_name, fault) => {
    service.proxy.inject(call, fault);
    const { cause } = await expectFailure(503);
    expect(cause.name).toMatch(/\S/);
    expect(service.proxy.requests).toEqual([call, call, call]);
    await expectRecovery();
  });

  it.each(permanent)('returns 500 at once when no retry can help: %s', async (_name, fault) => {
    service.proxy.inject(call, fault);
    const { cause } = await expectFailure(500);
    expect(cause.name).toMatch(/^(AccessDenied|ResourceNotFound)Exception$/);
    expect(service.proxy.requests).toEqual([call]);
    await expectRecovery();
  });

  it('returns 503 while connections are refused, and recovers', async () => {
    await service.proxy.refuseConnections();
    await expectFailure(503);
    await service.proxy.listen(service.proxyEndpoint);
    await expectRecovery();
  });

  it('gives up a call that hangs before Lambda ends the invocation', async () => {
    service.proxy.inject(call, stalls.hang);
    const deadline = performance.now() + 900;
    await expectFailure(503, { remainingMs: 900 });
    expect(performance.now()).toBeLessThan(deadline);
    await expectRecovery();
  });

  it('gives up retrying before Lambda ends the invocation', async () => {
    service.proxy.inject(call, delayed(60, faults.throttled));
    const deadline = performance.now() + 600;
    await expectFailure(503, { remainingMs: 600 });
    expect(performance.now()).toBeLessThan(deadline);
    await expectRecovery();
  });

  it('sends DynamoDB nothing when too little time is left', async () => {
    await expectFailure(503, { remainingMs: 500 });
    expect(service.proxy.requests).toEqual([]);
  });
});

/** Requests that run side by side: each meets the fault at a call of its own. */
const calls = [
  ...operations,
  {
    name: 'listPets with a new key',
    call: 'GetItem Keys',
    success: 200,
    run: async () => invoke(service.listPets, { headers: bearer(await service.issueApiKey()) }),
  },
] as const;

const runAll = () =>
  Promise.all(
    calls.map(async ({ run }) => {
      const startedAt = performance.now();
      const { status } = await run();
      return { status, ms: performance.now() - startedAt };
    }),
  );

describe.each(Object.entries(stalls))('an answer that stalls: %s', (name, stall) => {
  it('is given up after a second, and the next attempt succeeds', async () => {
    for (const { call } of calls) service.proxy.inject(call, stall, 1);
    for (const [index, { status, ms }] of (await runAll()).entries()) {
      expect(status).toBe(calls[index]?.success);
      expect(ms).toBeLessThan(2_000);
    }
  });

  it('ends in 503 within 4 s while it lasts', async () => {
    captureLog();
    for (const { call } of calls) service.proxy.inject(call, stall);
    for (const [index, { status, ms }] of (await runAll()).entries()) {
      // The two bytes of PutItem's `{}` arrive in time.
      const arrives = name === 'twentyBytesPerSecond' && calls[index]?.name === 'createPet';
      expect(status).toBe(arrives ? 201 : 503);
      expect(ms).toBeLessThan(4_000);
    }
  });
});

describe('a request', () => {
  it('ends in 503 within 4 s when the key is read at last and the operation stalls', async () => {
    captureLog();
    const newKey = await service.issueApiKey();
    service.proxy.inject('GetItem Keys', stalls.headersThenHang, 2);
    service.proxy.inject('Query Pets', stalls.headersThenHang);
    const startedAt = performance.now();
    const { status } = await invoke(service.listPets, { headers: bearer(newKey) });
    expect(status).toBe(503);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});

describe("an answer that can't be DynamoDB's", () => {
  const page = (...items: object[]) => JSON.stringify({ Items: items });
  const pet = (fields: object) => ({
    ...{ id: { N: '1' }, status: { S: 'available' } },
    ...{ name: { S: 'Rex' }, categoryId: { N: '1' } },
    ...fields,
  });

  it.each([
    ['a Query without Items', 'Query Pets', '{}'],
    ['a Query with one Item', 'Query Pets', JSON.stringify({ Items: pet({}) })],
    ['a Query with numbers', 'Query Pets', '{"Items":[5]}'],
    ['a Query with a pet without an id', 'Query Pets', page(pet({ id: undefined }))],
    ['a Query with a pet of another status', 'Query Pets', page(pet({ status: { S: 'sold' } }))],
    ['a Query that ends nowhere', 'Query Pets', '{"Items":[],"LastEvaluatedKey":{}}'],
    [
      'a Query that ends before it began',
      'Query Pets',
      '{"Items":[],"LastEvaluatedKey":{"id":{"N":"-1"},"status":{"S":"available"}}}',
    ],
    ['a pet of another id', 'GetItem Pets', JSON.stringify({ Item: pet({}) })],
    ['an item that is empty', 'GetItem Pets', '{"Item":{}}'],
    ['an item that is text', 'GetItem Pets', '{"Item":"Rex"}'],
    ['a value of no type', 'GetItem Pets', '{"Item":{"id":{"X":"1"}}}'],
  ])('is asked for again: %s', async (_answer, call, body) => {
    const operation = operations.find((candidate) => candidate.call === call);
    service.proxy.inject(call, answer(body), 1);
    expect((await operation?.run())?.status).toBe(200);
    expect(service.proxy.requests).toEqual([call, call]);
    captureLog();
    service.proxy.inject(call, answer(body));
    expect((await operation?.run())?.status).toBe(503);
  });
});

describe('a corrupt item', () => {
  const put = (id: number, fields: object = {}) =>
    service.dynamodb.send(
      new PutCommand({
        TableName: service.tables.pets,
        Item: { id, name: 'Rex', categoryId: 1, status: 'sold', ...fields },
      }),
    );

  const list = (query: Record<string, string> = {}) =>
    invoke(service.listPets, { headers: bearer(apiKey), query });

  it.each([
    ['without a name', { name: undefined }],
    ['with a name of another type', { name: 5 }],
    ['with a fraction for categoryId', { categoryId: 1.5 }],
    ['with a status of its own', { status: 'lost' }],
    ['with a number beyond 64 bits', { categoryId: 10n ** 30n }],
    ['with a fraction of 20 digits', { categoryId: NumberValue.from('1234567890123456789.5') }],
  ])('%s gets 500 and one log line', async (_kind, fault) => {
    await put(7, fault);
    onTestFinished(async () => void (await put(7)));
    const lines = captureLog();
    const { status, body } = await invoke(service.getPet, getRequest(apiKey, 7));
    expect(status).toBe(500);
    expect(body.code).toBe('internal_error');
    expectOneFailure(lines, { operation: 'getPet', cause: { name: 'Error' } });
    expect(lines.join()).toContain('"corruptItems":["7"]');
  });

  it('is left out of lists, and the log names its id and nothing else of it', async () => {
    await service.deletePets();
    for (const id of [1, 2, 4]) await put(id);
    await put(3, { name: ['Secret name'] });
    const lines = captureLog();
    expect((await list()).body).toMatchObject([{ id: 1 }, { id: 2 }, { id: 4 }]);
    expect(readLines(lines)).toMatchObject([{ status: 200, corruptItems: ['3'] }]);
    expect(lines.join()).not.toContain('Secret name');
  });

  it('fails no page, wherever it is, and the pages hold every other pet', async () => {
    captureLog();
    for (let corrupt = 1; corrupt <= 5; corrupt += 1) {
      await service.deletePets();
      for (const id of [1, 2, 3, 4, 5]) await put(id, id === corrupt ? { name: 5 } : {});
      const pages = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const { status, body, headers } = await list({ limit: '2', ...(cursor && { cursor }) });
        expect(status).toBe(200);
        pages.push(body.map(({ id }: { id: number }) => id));
        cursor = /cursor=([\w-]+)/.exec(`${headers['Link']}`)?.[1];
      }
      const others = [1, 2, 3, 4, 5].filter((id) => id !== corrupt);
      expect(pages).toEqual([others.slice(0, 2), others.slice(2)]);
    }
  });

  it('that an idempotent replay meets gets 500, and the log its id', async () => {
    const request = createRequest(apiKey, undefined, { 'Idempotency-Key': 'corrupt' });
    const { id } = (await invoke(service.createPet, request)).body;
    const [stored] = (await service.storedPets()).filter((item) => item['id'] === id);
    await put(id, { ...stored, name: 5 });
    const lines = captureLog();
    expect((await invoke(service.createPet, request)).status).toBe(500);
    expect(lines.join()).toContain(`"corruptItems":["${id}"]`);
  });
});

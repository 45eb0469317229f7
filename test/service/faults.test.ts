import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type TableSettings, tables } from '../../infra/settings/tables.ts';
import { type Operation, takesIdempotencyKey } from '../../lib/operations/operation.ts';
import { operations as allOperations, detailsOf } from '../../lib/operations/operations.ts';
import { encodeCursor } from '../../lib/pets/cursor.ts';
import { captureLog, expectOneFailure, readLines } from '../support/captured-log.ts';
import { bearer, creation, exampleCallsOf, exampleOf } from '../support/events.ts';
import {
  conditionFailedBy,
  delayed,
  type Fault,
  faults,
  passOn,
  passOnAfter,
  respondWith,
  stalls,
} from '../support/fault-proxy.ts';
import { fromBundles, type InvokeOptions, startHandlers } from '../support/handlers.ts';
import { walkPages } from '../support/pages.ts';

// Bundles replace modules of the SDK: no fault may need one of those.
const service = await startHandlers(fromBundles);
// Stops the clock, so that every function keeps the key in its memory.
vi.useFakeTimers({ toFake: ['Date'] });
const path = { petId: (await service.send(creation())).body.id };

const list = { query: { status: 'available' } };
const operations = allOperations
  .map((operation) => ({ operation, calls: exampleCallsOf(operation).map(({ call }) => call) }))
  .filter(({ calls }) => calls.length > 0);

/** How often each call is made if every operation makes all of its calls, or only the first. */
const count = (calls: readonly string[]) =>
  [...Map.groupBy(calls, (call) => call)].map(([call, { length }]) => [call, length] as const);
const allCalls = count(operations.flatMap(({ calls }) => calls));
const firstCalls = count(operations.flatMap(({ calls }) => calls.slice(0, 1)));

let lastId = 1_000;
/** Stores items of their own for the example of an operation, which may change or remove them. */
const prepareExample = async (operation: Operation) => {
  lastId += 1;
  const { request, items } = exampleOf(operation, lastId);
  await service.putItems(items);
  return request;
};

/** Runs the example of an operation with such items. */
const run = async (operation: Operation, options?: InvokeOptions) =>
  service.send(await prepareExample(operation), options);

/** Runs the operations in parallel: each has its own bundle. */
const runAll = (options?: InvokeOptions) =>
  Promise.all(
    operations.map(async ({ operation }) => {
      return { operation, response: await run(operation, options) };
    }),
  );

/** The pets that requests have added, without those of `run`. */
const addedPets = async () =>
  (await service.storedPets()).filter(({ creation: added }) => added !== undefined);

beforeEach(() => service.proxy.reset());

/** Injects a fault into each call of each operation, this many times. */
const injectAll = (fault: Fault, times?: number) => {
  for (const [call, number] of allCalls) service.proxy.inject(call, fault, times && times * number);
};

const attemptsOf = (call: string) =>
  service.proxy.requests.filter((request) => request === call).length;

const expectAttempts = (calls: typeof allCalls, each: number) =>
  expect(calls.map(([call]) => [call, attemptsOf(call)])).toEqual(
    calls.map(([call, number]) => [call, each * number]),
  );

const expectSuccess = async (options?: InvokeOptions, hint = '') => {
  for (const { operation, response } of await runAll(options)) {
    expect(response.status, operation.name + hint).toBe(operation.successStatus);
    // A retry of the function's own is no replay.
    expect(response.headers, operation.name + hint).not.toHaveProperty('Idempotent-Replayed');
  }
};
await expectSuccess();

/** Expects each operation to fail. The log line names the first call, if that is sent. */
const expectFailure = async (status: 500 | 503, options: InvokeOptions = {}, isSent = true) => {
  const lines = captureLog();
  const code = status === 503 ? 'service_unavailable' : 'internal_error';
  for (const { operation, response } of await runAll({ ...options, requestId: 'request-42' })) {
    expect(response.status, operation.name).toBe(status);
    expect(response.body).toEqual({ code, message: expect.stringMatching(/\S/), status });
    expect(response.headers['Retry-After']).toBe(status === 503 ? '1' : undefined);
    expect(response.text).not.toContain('TABLE-AND-KEY-TEXT');
  }
  expect(lines).toHaveLength(operations.length);
  for (const { operation, calls } of operations) {
    const { name } = operation;
    const own = lines.filter((line) => line.includes(`"operation":"${name}"`));
    const call = isSent ? calls[0]?.replace(/\w+$/, (table) => table.toLowerCase()) : undefined;
    const cause = { name: expect.stringMatching(/\S/), ...(call && { call }) };
    expectOneFailure(own, { operation: name, lambdaRequestId: 'request-42', code, cause });
  }
};

const expectRecovery = () => {
  service.proxy.reset();
  return expectSuccess();
};

/** Faults after which a call has had its effect. */
const lostResponses = ['resetAfterForwarding', 'halfABody'];
/** Faults that no retry can help. */
const finalFaults = ['accessDenied', 'resourceNotFound'];
const passing = Object.entries(faults).filter(([name]) => !finalFaults.includes(name));

describe('each operation', () => {
  it.each(passing)('succeeds when a fault passes, and adds one pet: %s', async (name, fault) => {
    const { length } = await addedPets();
    injectAll(fault, 1);
    const hint = lostResponses.includes(name)
      ? ': a retry finds its own change, so use withRetries'
      : '';
    await expectSuccess({}, hint);
    expectAttempts(allCalls, 2);
    expect(await addedPets()).toHaveLength(length + 1);
  });

  it.each(Object.entries(faults))(
    'returns an error while a fault lasts, and recovers: %s',
    async (name, fault) => {
      const isFinal = finalFaults.includes(name);
      injectAll(fault);
      await expectFailure(isFinal ? 500 : 503);
      expectAttempts(firstCalls, isFinal ? 1 : 3);
      await expectRecovery();
    },
  );

  it('still retries after a long outage', async () => {
    captureLog();
    injectAll(faults.resetBeforeForwarding);
    // A few at a time: on a busy machine, attempts that were given up would arrive after the outage.
    for (let sent = 0; sent < 60; sent += 10) {
      const failed = await Promise.all(Array.from({ length: 10 }, () => service.send(list)));
      expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([503]));
    }
    service.proxy.reset();
    injectAll(faults.resetAfterForwarding, 1);
    await expectSuccess();
  });

  it('waits a random time before each retry of a throttled call, the second time longer, but for less than a second', async () => {
    const random = vi.spyOn(Math, 'random');
    const timers = vi.spyOn(globalThis, 'setTimeout');
    for (const value of [0.2, 0.9]) {
      random.mockReturnValue(value);
      service.proxy.inject('Query Pets', faults.throttled, 2);
      expect((await service.send(list)).status).toBe(200);
    }
    // Longer ones are time limits.
    const pauses = timers.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms < 1_000);
    const [first = 0, second = 0, longFirst = 0, longSecond = 0] = pauses;
    expect(second).toBeGreaterThan(first);
    expect(longFirst).toBeGreaterThan(1.2 * first);
    expect(longSecond).toBeGreaterThan(1.2 * second);
    expect(longFirst + longSecond).toBeLessThan(1_000);
  });

  it.each([
    ['hangs', stalls.hang],
    ['is slow to throttle', delayed(500, faults.throttled)],
  ])('makes no third attempt after the deadline when DynamoDB %s', async (_kind, fault) => {
    injectAll(fault);
    await expectFailure(503, { remainingMs: 1_300 });
    for (const [call, number] of allCalls) expect(attemptsOf(call)).toBeLessThanOrEqual(2 * number);
    await expectRecovery();
  });

  it('sends DynamoDB nothing when too little time is left', async () => {
    await expectFailure(503, { remainingMs: 500 }, false);
    expectAttempts(allCalls, 0);
  });
});

describe('a response that stalls, in any way and at any call', () => {
  const listWithNewKey = async () => service.send({ headers: bearer(await service.issueApiKey()) });
  const requests = [
    ...operations.flatMap(({ operation, calls }) =>
      calls.map((call) => ({
        ...{ call, firstCall: `${calls[0]}`, successStatus: operation.successStatus },
        expectStatus: async (status: number) =>
          expect((await run(operation)).status, `${call} of ${operation.name}`).toBe(status),
      })),
    ),
    {
      ...{ call: 'GetItem Keys', firstCall: 'GetItem Keys', successStatus: 200 },
      expectStatus: async (status: number) => expect((await listWithNewKey()).status).toBe(status),
    },
  ];
  const allStalls = Object.values(stalls);

  it('is requested again', async () => {
    // A few at a time: on a busy machine, many requests at once would not end within their second.
    for (const { call, successStatus, expectStatus } of requests) {
      service.proxy.reset();
      for (const stall of allStalls) service.proxy.inject(call, stall, 1);
      await Promise.all(allStalls.map(() => expectStatus(successStatus)));
      expect(attemptsOf(call), call).toBe(2 * allStalls.length);
    }
  });

  // Attempts of two seconds would leave no time for a third.
  it('leads to 503 after three attempts of a second', async () => {
    const lines = captureLog();
    // Without pauses, a busy machine has time for the third attempt too.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    service.proxy.reset();
    for (const { call } of requests) service.proxy.inject(call, stalls.allButTheLastByte);
    await Promise.all(requests.map(({ expectStatus }) => expectStatus(503)));
    expectAttempts(count(requests.map(({ firstCall }) => firstCall)), 3);
    // The runbook knows this name.
    for (const { cause } of readLines(lines)) expect(cause.name).toBe('TimeoutError');
  });

  it('leads to 503 at its deadline when the third attempt reads the key and the operation stalls', async () => {
    const lines = captureLog();
    service.proxy.inject('GetItem Keys', stalls.headersThenHang, 2);
    service.proxy.inject('Query Pets', stalls.headersThenHang);
    expect((await listWithNewKey()).status).toBe(503);
    // Without a deadline of 3.5 s, it would ask three times for the pets.
    expect(attemptsOf('Query Pets')).toBeLessThan(3);
    expect(readLines(lines)).toMatchObject([{ cause: { name: 'TimeoutError' } }]);
  });
});

/** The calls of operations that change one item, each with its table. */
const writes = operations.flatMap(({ operation, calls }) =>
  calls.flatMap((call) => {
    const [action = '', name = ''] = call.split(' ');
    const table = Object.values<TableSettings>(tables).find(({ id }) => id === `${name}Table`);
    return table && /^(Put|Update|Delete)Item$/.test(action) ? [{ operation, call, table }] : [];
  }),
);

describe.each(writes)('$call of $operation.name', ({ operation, call, table }) => {
  const TableName = service.variables[table.variable];

  /** Runs the operation, and `interfere` just before its write. Returns the item before and after it. */
  const runAmid = async (interfere: (item: object, Key: object) => Promise<unknown>) => {
    captureLog();
    let get = { TableName, Key: {}, ConsistentRead: true };
    let before: Readonly<Record<string, unknown>> | undefined;
    const fault: Fault = async (exchange) => {
      const { Item, Key = Item } = JSON.parse(`${exchange.request}`);
      const { name } = table.partitionKey;
      get = { ...get, Key: unmarshall({ [name]: Key[name] }) };
      before = (await service.dynamodb.get(get)).Item;
      await interfere(before ?? unmarshall(Item), get.Key);
      await passOn(exchange);
    };
    service.proxy.inject(call, fault, 1);
    await run(operation);
    return { before, after: (await service.dynamodb.get(get)).Item };
  };

  it('undoes no change that another client makes just before it', async () => {
    // A write that repeats what was read would undo a change of these fields, which the operation keeps.
    const { before = {}, after: kept = {} } = await runAmid(async () => {});
    const texts = Object.entries(before).flatMap(([name, value]) =>
      typeof value === 'string' && name !== table.partitionKey.name && value === kept[name]
        ? [[name, 'changed by another']]
        : [],
    );
    const changed = { changedByAnother: true, ...Object.fromEntries(texts) };
    const { after = changed } = await runAmid((item) =>
      service.dynamodb.put({ TableName, Item: { ...item, ...changed } }),
    );
    const cure =
      'Write only what the request changes, and an item that is new only if its id is free';
    expect(after, cure).toMatchObject(changed);
  });

  it('brings back no item that another client removes just before it', async () => {
    const { before, after } = await runAmid((_item, Key) =>
      service.dynamodb.delete({ TableName, Key }),
    );
    if (before) expect(after, 'The write needs the condition that the item exists').toBeUndefined();
    // A creation adds an item that was not there before.
    else expect(after).toBeDefined();
  });

  it('has the effect of one when the same request is sent again just before it', async () => {
    const request = await prepareExample(operation);
    const headers = takesIdempotencyKey(operation) ? { 'Idempotency-Key': `${lastId}` } : {};
    const send = () => service.send({ ...request, headers });
    const responses: Awaited<ReturnType<typeof send>>[] = [];
    const sendAgain = passOnAfter(async () => responses.push(await send()));
    service.proxy.inject(call, sendAgain, 1);
    responses.push(await send());
    const successes = responses.filter(({ status }) => status === operation.successStatus);
    const { errors: own = [] } = detailsOf(operation.name);
    const cure =
      'Write only if the expected value is still stored. An equal value does not prove that the change is yours';
    if (own.some(({ status }) => status === 409)) expect(successes, cure).toHaveLength(1);
    const results = new Set(successes.map(({ text }) => text));
    expect(results, 'Equal requests have one result').toHaveLength(1);
  });
});

describe("a response that can't be DynamoDB's", () => {
  const petOf = (id: string, status: string) => ({
    ...{ id: { N: id }, status: { S: status } },
    ...{ name: { S: 'Rex' }, categoryId: { N: '1' } },
  });
  const start = { id: '5', status: 'available' } as const;
  const LastEvaluatedKey = { id: { N: '5' }, status: { S: 'available' } };
  const listFromStart = {
    query: { ...list.query, cursor: encodeCursor(start, { status: 'available' }) },
  };

  it.each<[kind: string, call: 'Query Pets' | 'GetItem Pets', body: object]>([
    ['no Items', 'Query Pets', {}],
    ['a pet of another status', 'Query Pets', { Items: [petOf('9', 'sold')] }],
    ['an end that is its start', 'Query Pets', { Items: [], LastEvaluatedKey }],
    ['a pet of another id', 'GetItem Pets', { Item: petOf('1', 'available') }],
  ])('is requested again: %s in %s', async (_kind, call, body) => {
    const run = () => service.send(call === 'Query Pets' ? listFromStart : { path });
    service.proxy.inject(call, respondWith(JSON.stringify(body)), 1);
    expect((await run()).status).toBe(200);
    expect(attemptsOf(call)).toBe(2);
    captureLog();
    service.proxy.inject(call, respondWith(JSON.stringify(body)));
    expect((await run()).status).toBe(503);
  });
});

it('a taken id that is not the one written is no response to the write, which is tried again and adds one pet', async () => {
  const other = { id: { N: '1' }, creation: { B: Buffer.alloc(32).toString('base64') } };
  const { length } = await service.storedPets();
  const request = creation(undefined, { 'Idempotency-Key': 'foreign-condition' });
  // The write succeeds, but another response arrives.
  const foreign: Fault = async (exchange) => {
    await exchange.forward();
    await conditionFailedBy(other)(exchange);
  };
  service.proxy.inject('PutItem Pets', foreign, 1);
  const created = await service.send(request);
  expect(created.status).toBe(201);
  expect((await service.send(request)).text).toBe(created.text);
  expect(await service.storedPets()).toHaveLength(length + 1);
});

it('a list ends where its LastEvaluatedKey is empty', async () => {
  service.proxy.inject('Query Pets', respondWith('{"Items":[],"LastEvaluatedKey":{}}'));
  const { status, text, headers } = await service.send(list);
  expect({ status, text }).toEqual({ status: 200, text: '[]' });
  expect(headers).not.toHaveProperty('Link');
});

describe('a corrupt item', () => {
  const put = (id: number | bigint, fields: object = {}) =>
    service.putPet({ id, name: 'Rex', categoryId: 1, status: 'sold', ...fields });

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
    const { status, body } = await service.send({ path: { petId: '7' } });
    expect(status).toBe(500);
    expect(body.code).toBe('internal_error');
    expectOneFailure(lines, {
      operation: 'getPet',
      cause: { name: 'Error' },
      corruptItems: ['7'],
    });
  });

  it('is left out of every page, wherever it is, and the log names its id and nothing else of it', async () => {
    for (let corrupt = 1; corrupt <= 5; corrupt += 1) {
      await service.deletePets();
      for (const id of [1, 2, 3, 4, 5]) await put(id, id === corrupt ? { name: ['Secret'] } : {});
      const lines = captureLog();
      const pages = await walkPages(service.send, { limit: '2' });
      const others = [1, 2, 3, 4, 5].filter((id) => id !== corrupt);
      expect(pages.map(({ body }) => body.map(({ id }: { id: number }) => id))).toEqual([
        others.slice(0, 2),
        others.slice(2),
      ]);
      const named = readLines(lines).flatMap(({ corruptItems = [] }) => corruptItems);
      expect(new Set(named)).toEqual(new Set([`${corrupt}`]));
      expect(lines.join()).not.toContain('Secret');
    }
  });

  it('is left out with an id that a number would round, and the log has all its digits', async () => {
    await service.deletePets();
    const ids = Array.from({ length: 40 }, (_, index) => 2n ** 62n + BigInt(index));
    for (const id of [1, 2, 3, ...ids]) await put(id);
    const lines = captureLog();
    const pages = await walkPages(service.send, { status: 'sold', limit: '1' });
    const shown = pages.flatMap(({ body }) => body.map(({ id }: { id: number }) => id));
    expect(shown).toEqual([1, 2, 3]);
    const named = readLines(lines).flatMap(({ corruptItems = [] }) => corruptItems);
    expect(new Set(named)).toEqual(new Set(ids.map(String)));
  });

  it.each([
    ['with a name of another type', { name: 5 }],
    ['without a creation', { creation: undefined }],
    ['with text for a creation', { creation: Buffer.alloc(32).toString('base64') }],
    ['with a creation that is too short', { creation: Buffer.alloc(31) }],
    ["with only the pet's fields", { creation: undefined, fingerprint: undefined }],
    ['with a fingerprint that is too short', { fingerprint: Buffer.alloc(31) }],
  ])('%s leads to 500 for an idempotent replay, and the log names its id', async (kind, fault) => {
    const request = creation(undefined, { 'Idempotency-Key': kind.replaceAll(' ', '-') });
    const { id } = (await service.send(request)).body;
    const stored = (await service.storedPets()).find((item) => item['id'] === id);
    await put(id, { ...stored, ...fault });
    const { length } = await service.storedPets();
    const lines = captureLog();
    expect((await service.send(request)).status).toBe(500);
    expect(readLines(lines)).toMatchObject([{ corruptItems: [`${id}`] }]);
    expect(await service.storedPets()).toHaveLength(length);
  });
});

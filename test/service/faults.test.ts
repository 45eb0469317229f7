import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { delayed, faults } from '../support/fault-proxy.ts';
import {
  bearer,
  captureLog,
  createRequest,
  expectOneFailure,
  fromBundles,
  getRequest,
  type InvokeOptions,
  invoke,
  startHandlers,
} from '../support/handlers.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;
let petId: number;

beforeAll(async () => {
  // Every way through the SDK that a fault opens must have been left in the bundles.
  service = await startHandlers(fromBundles);
  apiKey = await service.issueApiKey();
  ({ id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body);
  // From now on each function knows the key.
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

const mendableAtOnce = [
  'throttled',
  'throughputExceeded',
  'status500',
  'status502',
  'status503',
  'resetBeforeForwarding',
  'resetAfterForwarding',
  'halfABody',
  'html',
  'expiredToken',
] as const;
const mendable = [...mendableAtOnce, 'hang'] as const;
const unmendable = ['accessDenied', 'resourceNotFound'] as const;

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

  it.each(mendable)('succeeds when a fault passes: %s', async (fault) => {
    service.proxy.inject(call, faults[fault], 1);
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
    service.proxy.inject(call, faults.hang, 1);
    expect((await run({ remainingMs: 2_400 })).status).toBe(success);
  });

  it('succeeds when DynamoDB is slow', async () => {
    service.proxy.inject(call, delayed(300));
    expect((await run()).status).toBe(success);
  });

  it.each(mendableAtOnce)(
    'answers 503 while a fault lasts, %s, and works again after it',
    async (fault) => {
      service.proxy.inject(call, faults[fault]);
      const { cause } = await expectFailure(503);
      expect(cause.name).toMatch(/\S/);
      await expectRecovery();
    },
  );

  it.each(unmendable)('answers 500 to what no retry can mend, %s, at once', async (fault) => {
    service.proxy.inject(call, faults[fault]);
    const { cause } = await expectFailure(500);
    expect(cause.name).toMatch(/^(AccessDenied|ResourceNotFound)Exception$/);
    expect(service.proxy.requests).toEqual([call]);
    await expectRecovery();
  });

  it('answers 503 while connections are refused, and works again after it', async () => {
    await service.proxy.refuseConnections();
    await expectFailure(503);
    await service.proxy.listen(service.proxyEndpoint);
    await expectRecovery();
  });

  it('gives up a hanging call before Lambda ends the invocation', async () => {
    service.proxy.inject(call, faults.hang);
    const deadline = Date.now() + 900;
    await expectFailure(503, { remainingMs: 900 });
    expect(Date.now()).toBeLessThan(deadline);
    await expectRecovery();
  });

  it('gives up retrying before Lambda ends the invocation', async () => {
    service.proxy.inject(call, delayed(60, faults.throttled));
    const deadline = Date.now() + 600;
    await expectFailure(503, { remainingMs: 600 });
    expect(Date.now()).toBeLessThan(deadline);
    await expectRecovery();
  });

  it('asks DynamoDB nothing when too little time is left', async () => {
    await expectFailure(503, { remainingMs: 500 });
    expect(service.proxy.requests).toEqual([]);
  });
});

describe('a corrupt item', () => {
  it.each([
    ['without a name', { name: undefined }],
    ['with a name of another type', { name: 5 }],
    ['with a fraction for categoryId', { categoryId: 1.5 }],
    ['with a status of its own', { status: 'lost' }],
  ])('%s gets 500 and one log line', async (_kind, fault) => {
    const Item = { id: 7, name: 'Rex', categoryId: 1, status: 'sold', ...fault };
    await service.dynamodb.send(new PutCommand({ TableName: service.tables.pets, Item }));
    const lines = captureLog();
    const { status, body } = await invoke(service.getPet, getRequest(apiKey, 7));
    expect(status).toBe(500);
    expect(body.code).toBe('internal_error');
    expectOneFailure(lines, { operation: 'getPet', cause: { name: 'Error' } });
  });
});

import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateApiKey, identifyApiKey } from '../../lib/contract/api-key.ts';
import { readMetrics } from '../support/embedded-metric-format.ts';
import { delayed, type Fault, faults } from '../support/fault-proxy.ts';
import { withChecksum } from '../support/guessed-key.ts';
import {
  bearer,
  captureLog,
  createRequest,
  getRequest,
  type Handler,
  type InvokeOptions,
  invoke,
  readLines,
  startHandlers,
} from '../support/handlers.ts';
import { type EventParts, gatewayRequestId } from '../support/proxy-event.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;
let keyId: string | undefined;
let petId: number;
let collected: typeof import('../../lib/aws/telemetry.ts');

beforeAll(async () => {
  service = await startHandlers();
  collected = await import('../../lib/aws/telemetry.ts');
  apiKey = await service.issueApiKey();
  keyId = identifyApiKey(apiKey, 'pets_test')?.keyId;
  ({ id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body);
});

beforeEach(() => {
  service.proxy.reset();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** One request, with the one line that it printed. */
const observed = async (handler: Handler, parts: EventParts, options?: InvokeOptions) => {
  const lines = captureLog();
  const response = await invoke(handler, parts, options);
  const [line, ...others] = readLines(lines);
  vi.restoreAllMocks();
  expect(others).toEqual([]);
  return { response, line, metrics: readMetrics(line) };
};

/** What is counted, which is all metrics but the latency of DynamoDB. */
const counts = ({ values }: ReturnType<typeof readMetrics>) => {
  const { DynamoDBLatency: _latency, ...counted } = values;
  return counted;
};

const list = (parts: EventParts = {}): EventParts => ({ headers: bearer(apiKey), ...parts });

interface Outcome {
  readonly operation: 'listPets' | 'createPet' | 'getPet' | 'unrouted';
  readonly status: number;
  readonly code?: string;
  readonly request: () => EventParts;
  readonly options?: InvokeOptions;
  readonly fault?: Fault;
  /** The line has no key id, because no valid key came. */
  readonly isAnonymous?: boolean;
  /** What is counted beside the request itself. */
  readonly counted?: readonly string[];
}

const outcomes: readonly Outcome[] = [
  { operation: 'listPets', status: 200, request: () => list() },
  {
    operation: 'listPets',
    status: 400,
    code: 'invalid_request',
    request: () => list({ query: { limit: '0' } }),
    counted: ['ClientErrors'],
  },
  {
    operation: 'listPets',
    status: 401,
    code: 'unauthorized',
    request: () => ({ headers: bearer('no key') }),
    isAnonymous: true,
    counted: ['ClientErrors', 'AuthFailures'],
  },
  {
    operation: 'listPets',
    status: 500,
    code: 'internal_error',
    request: () => list(),
    fault: faults.accessDenied,
    counted: ['ServerErrors'],
  },
  {
    operation: 'listPets',
    status: 503,
    code: 'service_unavailable',
    request: () => list(),
    fault: faults.resetBeforeForwarding,
    counted: ['ServerErrors'],
  },
  {
    operation: 'listPets',
    status: 503,
    code: 'service_unavailable',
    request: () => list(),
    options: { remainingMs: 100 },
    isAnonymous: true,
    counted: ['ServerErrors'],
  },
  { operation: 'createPet', status: 201, request: () => createRequest(apiKey) },
  {
    operation: 'createPet',
    status: 415,
    code: 'unsupported_media_type',
    request: () => createRequest(apiKey, {}, { 'Content-Type': 'text/plain' }),
    counted: ['ClientErrors'],
  },
  { operation: 'getPet', status: 200, request: () => getRequest(apiKey, petId) },
  {
    operation: 'getPet',
    status: 404,
    code: 'not_found',
    request: () => getRequest(apiKey, 'no id'),
    counted: ['ClientErrors'],
  },
  {
    operation: 'unrouted',
    status: 404,
    code: 'not_found',
    request: () => list({ resource: '/{proxy+}' }),
    isAnonymous: true,
    counted: ['ClientErrors'],
  },
  {
    operation: 'unrouted',
    status: 405,
    code: 'method_not_allowed',
    request: () => list({ method: 'DELETE' }),
    isAnonymous: true,
    counted: ['ClientErrors'],
  },
];

describe.each(outcomes)(
  'the line of $operation for a response $status $code',
  ({ operation, status, code, request, options, fault, isAnonymous, counted = [] }) => {
    const run = () => {
      if (fault) service.proxy.inject('Query Pets', fault);
      return observed(service[operation], request(), { ...options, requestId: 'lambda-id' });
    };

    it('has the outcome and who asked, and nothing else', async () => {
      const { response, line, metrics } = await run();
      expect(response.status).toBe(status);
      const { _aws, level, message, timestamp, durationMs, cause, ...rest } = line;
      const metricNames = Object.keys(metrics.values);
      expect(level).toBe(status < 500 ? 'INFO' : 'ERROR');
      expect(message).toMatch(/\S/);
      expect(new Date(timestamp).toISOString()).toBe(timestamp);
      expect(durationMs).toBeGreaterThanOrEqual(0);
      expect(cause).toEqual(
        status < 500
          ? undefined
          : {
              name: expect.stringMatching(/^\w*(Error|Exception)$/),
              thrownAt: expect.stringMatching(/^[\w.-]+:\d+:\d+$/),
            },
      );
      expect(rest).toEqual({
        service: 'animal-store-test',
        operation,
        version: '42',
        status,
        ...(code && { code }),
        ...(!isAnonymous && { keyId }),
        requestId: gatewayRequestId,
        lambdaRequestId: 'lambda-id',
        coldStart: false,
        ...Object.fromEntries(metricNames.map((name) => [name, line[name]])),
      });
    });

    it('counts the request by its kind', async () => {
      const { metrics } = await run();
      expect(metrics).toMatchObject({
        namespace: 'AnimalStore',
        dimensions: [{ service: 'animal-store-test', operation }],
      });
      expect(counts(metrics)).toEqual(
        Object.fromEntries(['Requests', ...counted].map((name) => [name, [1]])),
      );
    });
  },
);

describe('the log line', () => {
  it('tells a cold start from the requests after it', async () => {
    vi.resetModules();
    const { handler } = await import('../../functions/get-pet.ts');
    const coldStarts = [];
    for (let request = 1; request <= 3; request += 1) {
      coldStarts.push((await observed(handler, getRequest(apiKey, petId))).line.coldStart);
    }
    expect(coldStarts).toEqual([true, false, false]);
  });

  it.each([
    ['another secret', () => withChecksum(`pets_test_${keyId}_${'0'.repeat(64)}`)],
    ['an unknown id', () => generateApiKey('pets_test')],
  ])('names no key that has %s', async (_kind, other) => {
    const { response, line } = await observed(service.listPets, { headers: bearer(other()) });
    expect(response.status).toBe(401);
    expect(line).not.toHaveProperty('keyId');
  });

  it.each([
    'my-request',
    'pets_test_0123456789abcdef',
    `${gatewayRequestId}0`,
    `0${gatewayRequestId}`,
    '',
  ])('leaves out a request id that a client has chosen: %j', async (requestId) => {
    const { line } = await observed(service.listPets, list({ requestId }));
    expect(line).not.toHaveProperty('requestId');
    expect(line.lambdaRequestId).toBe('request-id');
  });

  it('has no trace id, for a client can choose that too', async () => {
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=chosen-by-a-client');
    const { line } = await observed(service.listPets, list());
    expect(JSON.stringify(line)).not.toContain('chosen-by-a-client');
  });

  it('has the duration in milliseconds, as the metrics have the latency of DynamoDB', async () => {
    service.proxy.inject('GetItem Pets', delayed(200), 1);
    const { line, metrics } = await observed(service.getPet, getRequest(apiKey, petId));
    for (const ms of [line.durationMs, ...(metrics.values['DynamoDBLatency'] ?? [])]) {
      expect(ms).toBeGreaterThan(150);
      // Of the time that is left nothing can take more.
      expect(ms).toBeLessThan(10_000);
    }
  });

  it('spans all calls of DynamoDB', async () => {
    const { line, metrics } = await observed(service.listPets, list());
    const calls = metrics.values['DynamoDBLatency'] ?? [];
    expect(calls.length).toBeGreaterThan(0);
    expect(line.durationMs).toBeGreaterThanOrEqual(calls.reduce((sum, ms) => sum + ms, 0) - 0.1);
  });

  it('is there when the function fails to answer, which API Gateway makes a 503 (49 AZ#6624)', async () => {
    const { chain } = await import('../../lib/http/chain.ts');
    const handler = chain('broken').handler(async () => {
      throw new RangeError('secret');
    });
    const lines = captureLog();
    await expect(invoke(handler, list())).rejects.toThrow(RangeError);
    expect(readLines(lines)).toEqual([
      expect.objectContaining({
        level: 'ERROR',
        operation: 'broken',
        status: 503,
        cause: expect.objectContaining({ name: 'RangeError' }),
        Requests: 1,
        ServerErrors: 1,
      }),
    ]);
    expect(lines.join()).not.toContain('secret');
  });

  it.each(['WARN', 'ERROR'])(
    'has of a request without fault only outcome and metrics at level %s, and all of a failure',
    async (logLevel) => {
      vi.resetModules();
      vi.stubEnv('LOG_LEVEL', logLevel);
      const { handler } = await import('../../functions/list-pets.ts');
      const lines = captureLog();
      expect((await invoke(handler, list())).status).toBe(200);
      expect((await invoke(handler, list(), { remainingMs: 0 })).status).toBe(503);
      const [success, failure] = readLines(lines);
      expect(Object.keys(success).toSorted()).toEqual(
        ['_aws', 'level', 'message', 'operation', 'service', 'status', 'version']
          .concat('DynamoDBLatency', 'Requests')
          .toSorted(),
      );
      expect(failure).toMatchObject({ level: 'ERROR', cause: { name: 'Error' }, Requests: 1 });
      expect(failure).toHaveProperty('durationMs');
    },
  );

  it('names the items that could not be read, up to 100 and only in their own request', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `${index}`);
    for (const id of ids) collected.noteCorruptItem(id);
    const { line } = await observed(service.listPets, list());
    expect(line.corruptItems).toEqual(ids.slice(0, 100));
    expect((await observed(service.listPets, list())).line).not.toHaveProperty('corruptItems');
  });
});

describe('Throttles', () => {
  it('counts an attempt that a retry has mended', async () => {
    service.proxy.inject('Query Pets', faults.throttled, 1);
    const { response, metrics } = await observed(service.listPets, list());
    expect(response.status).toBe(200);
    expect(counts(metrics)).toEqual({ Requests: [1], Throttles: [1] });
  });

  it.each(['throttled', 'throughputExceeded'] as const)(
    'counts every attempt while it lasts: %s',
    async (fault) => {
      service.proxy.inject('Query Pets', faults[fault]);
      const { response, metrics } = await observed(service.listPets, list());
      expect(response.status).toBe(503);
      expect(counts(metrics)).toEqual({
        Requests: [1],
        ServerErrors: [1],
        Throttles: [1, 1, 1],
      });
    },
  );

  it('counts the look-up of a key', async () => {
    service.proxy.inject('GetItem Keys', faults.throttled, 2);
    const fresh = await service.issueApiKey();
    const { response, metrics } = await observed(service.listPets, { headers: bearer(fresh) });
    expect(response.status).toBe(200);
    expect(counts(metrics)).toEqual({ Requests: [1], Throttles: [1, 1] });
  });

  it.each(['status500', 'status503', 'resetBeforeForwarding', 'expiredToken'] as const)(
    'leaves out other failures: %s',
    async (fault) => {
      service.proxy.inject('Query Pets', faults[fault], 1);
      const { metrics } = await observed(service.listPets, list());
      expect(counts(metrics)).toEqual({ Requests: [1] });
    },
  );
});

describe('IdempotentReplays', () => {
  const create = (pet: object, idempotencyKey?: string) =>
    observed(
      service.createPet,
      createRequest(apiKey, pet, idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
    );
  const rex = { name: 'Rex', categoryId: 1 };

  it('counts a request that comes again, not the first one, and no other pet under its key', async () => {
    const key = randomUUID();
    expect(counts((await create(rex, key)).metrics)).toEqual({ Requests: [1] });
    for (let again = 1; again <= 2; again += 1) {
      const { response, metrics } = await create(rex, key);
      expect(response.status).toBe(201);
      expect(counts(metrics)).toEqual({ Requests: [1], IdempotentReplays: [1] });
    }
    const { response, metrics } = await create({ ...rex, name: 'Max' }, key);
    expect(response.status).toBe(422);
    expect(counts(metrics)).toEqual({ Requests: [1], ClientErrors: [1] });
  });

  it('counts a retry of the service after a lost answer, if the request has an Idempotency-Key', async () => {
    for (const [key, replays] of [
      [randomUUID(), { IdempotentReplays: [1] }],
      [undefined, {}],
    ] as const) {
      service.proxy.inject('PutItem Pets', faults.resetAfterForwarding, 1);
      const { response, metrics } = await create(rex, key);
      expect(response.status).toBe(201);
      expect(counts(metrics)).toEqual({ Requests: [1], ...replays });
    }
  });
});

describe('DynamoDBLatency', () => {
  const latencies = async (...request: Parameters<typeof observed>) =>
    (await observed(...request)).metrics.values['DynamoDBLatency'];

  it('has a value for each call, in milliseconds', async () => {
    const fresh = await service.issueApiKey();
    const { metrics } = await observed(service.getPet, getRequest(fresh, petId));
    expect(metrics.units['DynamoDBLatency']).toBe('Milliseconds');
    expect(metrics.values['DynamoDBLatency']).toHaveLength(2);
    expect(service.proxy.requests).toEqual(['GetItem Keys', 'GetItem Pets']);
    for (const value of metrics.values['DynamoDBLatency'] ?? []) {
      expect(value).toBeGreaterThanOrEqual(0);
    }
  });

  it('has one value for a call and its retries, also when it fails', async () => {
    service.proxy.inject('GetItem Pets', faults.status500, 1);
    expect(await latencies(service.getPet, getRequest(apiKey, petId))).toHaveLength(1);
    service.proxy.inject('GetItem Pets', faults.status500);
    expect(await latencies(service.getPet, getRequest(apiKey, petId))).toHaveLength(1);
  });

  it('has at most the 100 values that CloudWatch takes', async () => {
    for (let call = 1; call <= 101; call += 1) collected.recordDynamodbLatency(call);
    const values = await latencies(service.getPet, getRequest(apiKey, petId));
    expect(values).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  it('is left out of a request that asks DynamoDB nothing', async () => {
    expect(await latencies(service.getPet, getRequest(apiKey, 'no id'))).toBeUndefined();
  });
});

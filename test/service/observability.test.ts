import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { generateApiKey, identifyApiKey } from '../../lib/contract/api-key.ts';
import { readMetrics } from '../support/embedded-metric-format.ts';
import { delayed, type Fault, faults } from '../support/fault-proxy.ts';
import {
  bearer,
  captureLog,
  createRequest,
  getRequest,
  type Handler,
  type HandlerName,
  type InvokeOptions,
  invoke,
  readLines,
  startHandlers,
} from '../support/handlers.ts';
import { type EventParts, gatewayRequestId } from '../support/proxy-event.ts';
import { withChecksum } from '../support/with-checksum.ts';

const service = await startHandlers();
// Imported after its environment is set.
const telemetry = await import('../../lib/aws/telemetry.ts');
const apiKey = await service.issueApiKey();
const keyId = identifyApiKey(apiKey, 'pets_test')?.keyId;
const { id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body;

beforeEach(() => service.proxy.reset());

/** One request, with the one line that it printed. */
const observed = async (handler: Handler, parts: EventParts, options?: InvokeOptions) => {
  const lines = captureLog();
  const response = await invoke(handler, parts, options);
  const [line, ...others] = readLines(lines);
  expect(others).toEqual([]);
  const [metrics, byVersion] = readMetrics(line);
  if (!metrics || !byVersion) throw new Error('The line lacks a directive');
  return { response, line, metrics, byVersion };
};

/** All metrics but the latency of DynamoDB. */
const counts = ({ values }: ReturnType<typeof readMetrics>[number]) => {
  const { DynamoDBLatency: _latency, ...counted } = values;
  return counted;
};

const list = (parts: EventParts = {}): EventParts => ({ headers: bearer(apiKey), ...parts });

/** A list while DynamoDB has a fault. */
const listDuring = (fault: Fault) => () => {
  service.proxy.inject('Query Pets', fault);
  return list();
};

/** `counted` are the metrics beside `Requests`; with `hasKey` the line has the id of the key. */
const outcomes: readonly (readonly [
  operation: HandlerName,
  status: number,
  code: string | undefined,
  counted: readonly string[],
  hasKey: boolean,
  request: () => EventParts,
])[] = [
  ['listPets', 200, undefined, [], true, () => list()],
  ['listPets', 400, 'invalid_request', ['ClientErrors'], true, () => list({ query: { a: '' } })],
  ['listPets', 401, 'unauthorized', ['ClientErrors', 'AuthFailures'], false, () => ({})],
  ['listPets', 500, 'internal_error', ['ServerErrors'], true, listDuring(faults.accessDenied)],
  ['listPets', 503, 'service_unavailable', ['ServerErrors'], true, listDuring(faults.status502)],
  ['createPet', 201, undefined, [], true, () => createRequest(apiKey)],
  ['getPet', 200, undefined, [], true, () => getRequest(apiKey, petId)],
  ['getPet', 404, 'not_found', ['ClientErrors'], true, () => getRequest(apiKey, 'no id')],
  ['unrouted', 405, 'method_not_allowed', ['ClientErrors'], false, () => ({ method: 'DELETE' })],
];

describe('the line of a request', () => {
  it.each(outcomes)(
    'to %s with status %i has the outcome, who asked and what is counted, and nothing else',
    async (operation, status, code, counted, hasKey, request) => {
      const seen = await observed(service[operation], request(), { requestId: 'lambda-id' });
      const { response, line, metrics, byVersion } = seen;
      expect(response.status).toBe(status);
      const { _aws, level, message, timestamp, durationMs, Latency, cause, ...rest } = line;
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
      const metricNames = Object.keys(metrics.values);
      expect(rest).toEqual({
        service: 'animal-store-test',
        operation,
        version: '42',
        status,
        ...(code && { code }),
        ...(hasKey && { keyId }),
        requestId: gatewayRequestId,
        lambdaRequestId: 'lambda-id',
        coldStart: false,
        ...Object.fromEntries(metricNames.map((name) => [name, line[name]])),
      });
      expect(metrics).toMatchObject({
        namespace: 'AnimalStore',
        dimensions: [{ service: 'animal-store-test', operation }],
      });
      expect(counts(metrics)).toEqual(
        Object.fromEntries(['Requests', ...counted].map((name) => [name, [1]])),
      );
      expect(byVersion).toEqual({
        namespace: 'AnimalStore',
        dimensions: [{ service: 'animal-store-test', operation, version: '42' }],
        units: expect.objectContaining({ Requests: 'Count', Latency: 'Milliseconds' }),
        values: {
          Requests: [1],
          ...(counted.includes('ServerErrors') && { ServerErrors: [1] }),
          Latency: [durationMs],
        },
      });
    },
  );

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

  it('has no trace id, because a client can choose that too', async () => {
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=chosen-by-a-client');
    const { line } = await observed(service.listPets, list());
    expect(JSON.stringify(line)).not.toContain('chosen-by-a-client');
  });

  it('has the duration in milliseconds, over all calls of DynamoDB', async () => {
    service.proxy.inject('GetItem Pets', delayed(200), 1);
    const { line, metrics } = await observed(service.getPet, getRequest(apiKey, petId));
    const calls = metrics.values['DynamoDBLatency'] ?? [];
    expect(Math.max(...calls)).toBeGreaterThan(150);
    expect(line.durationMs).toBeGreaterThanOrEqual(calls.reduce((sum, ms) => sum + ms, 0) - 0.1);
    // Nothing can take longer than the remaining time.
    expect(line.durationMs).toBeLessThan(10_000);
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
          .concat('DynamoDBLatency', 'Latency', 'Requests')
          .toSorted(),
      );
      expect(failure).toMatchObject({ level: 'ERROR', cause: { name: 'Error' }, Requests: 1 });
      expect(failure).toHaveProperty('durationMs');
    },
  );

  it('names the items that could not be read, up to 100 and only in their own request', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `${index}`);
    for (const id of ids) telemetry.noteCorruptItem(id);
    const { line } = await observed(service.listPets, list());
    expect(line.corruptItems).toEqual(ids.slice(0, 100));
    expect((await observed(service.listPets, list())).line).not.toHaveProperty('corruptItems');
  });
});

describe('Throttles', () => {
  it.each([
    ['an attempt whose retry succeeds', faults.throttled, 1, { Throttles: [1] }],
    [
      'every attempt while it lasts',
      faults.throughputExceeded,
      3,
      { ServerErrors: [1], Throttles: [1, 1, 1] },
    ],
    ['no other failure of DynamoDB', faults.status503, 1, {}],
    ['no lost connection', faults.resetBeforeForwarding, 1, {}],
    ['no expired token', faults.expiredToken, 1, {}],
  ])('counts %s', async (_kind, fault, times, counted) => {
    service.proxy.inject('Query Pets', fault, times);
    const { metrics } = await observed(service.listPets, list());
    expect(counts(metrics)).toEqual({ Requests: [1], ...counted });
  });
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

  it.each([
    ['with', randomUUID(), { IdempotentReplays: [1] }],
    ['but not without', undefined, {}],
  ])('counts a retry after a lost answer %s an Idempotency-Key', async (_with, key, replays) => {
    service.proxy.inject('PutItem Pets', faults.resetAfterForwarding, 1);
    const { response, metrics } = await create(rex, key);
    expect(response.status).toBe(201);
    expect(counts(metrics)).toEqual({ Requests: [1], ...replays });
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
  });

  it('has one value for a call and its retries, also when it fails', async () => {
    service.proxy.inject('GetItem Pets', faults.status500, 1);
    expect(await latencies(service.getPet, getRequest(apiKey, petId))).toHaveLength(1);
    service.proxy.inject('GetItem Pets', faults.status500);
    expect(await latencies(service.getPet, getRequest(apiKey, petId))).toHaveLength(1);
  });

  it('has at most the 100 values that CloudWatch takes', async () => {
    for (let call = 1; call <= 101; call += 1) telemetry.recordDynamodbLatency(call);
    const values = await latencies(service.getPet, getRequest(apiKey, petId));
    expect(values).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });
});

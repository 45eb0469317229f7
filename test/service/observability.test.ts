import { beforeEach, describe, expect, it, vi } from 'vitest';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { operations } from '../../lib/operations/operations.ts';
import { captureLog, readLines } from '../support/captured-log.ts';
import { readMetrics } from '../support/embedded-metric-format.ts';
import {
  bearer,
  creation,
  type EventParts,
  exampleCallsOf,
  extendedRequestId,
} from '../support/events.ts';
import { delayed, type Fault, faults, respondWith } from '../support/fault-proxy.ts';
import {
  type InvokeOptions,
  invoke,
  loadHandlers,
  senderTo,
  startHandlers,
} from '../support/handlers.ts';
import { withChecksum } from './with-checksum.ts';

const service = await startHandlers();
// Imported after its environment is set.
const { noContent } = await import('../../lib/http/response.ts');
const keyId = identifyApiKey(service.apiKey, 'pets_test')?.keyId;
const { id: petId } = (await service.send(creation())).body;
const get: EventParts = { path: { petId } };

beforeEach(() => service.proxy.reset());

/** Sends a request. Returns its response, its one line, and what the line counts besides the request. */
const observed = async (parts?: EventParts, options?: InvokeOptions, send = service.send) => {
  const lines = captureLog();
  const response = await send(parts, options);
  const [line, ...others] = readLines(lines);
  expect(others).toEqual([]);
  const [metrics, byVersion] = readMetrics(line);
  const { Requests, DynamoDBLatency = [], ...counted } = metrics?.values ?? {};
  expect(Requests).toEqual([1]);
  return { response, line, metrics, byVersion, latencies: DynamoDBLatency, counted };
};

/** Loads handlers as Lambda starts them, with the current environment. */
const coldStarted = async () => {
  vi.resetModules();
  return senderTo(await loadHandlers(), service.apiKey);
};

/** Returns a function that requests a list while DynamoDB has a fault. */
const listDuring = (fault: Fault) => () => {
  service.proxy.inject('Query Pets', fault);
  return {};
};

describe('the line of a request', () => {
  it.each<[FunctionName, status: number, counted: readonly string[], request: () => EventParts]>([
    ['listPets', 200, [], () => ({})],
    ['listPets', 400, ['ClientErrors'], () => ({ query: { a: '' } })],
    ['listPets', 500, ['ServerErrors'], listDuring(faults.accessDenied)],
    ['listPets', 503, ['ServerErrors'], listDuring(faults.status502)],
    ['createPet', 201, [], () => creation()],
    ['getPet', 200, [], () => get],
    [
      'getPet',
      401,
      ['ClientErrors', 'AuthFailures'],
      () => ({ ...get, headers: bearer('no key') }),
    ],
    ['getPet', 404, ['ClientErrors'], () => ({ path: { petId: 'no id' } })],
    ['fallback', 405, ['ClientErrors'], () => ({ method: 'DELETE' })],
  ])(
    'to %s with status %i has the outcome, who asked and what is counted',
    async (operation, status, expected, request) => {
      const isDeprecated = operations.some((each) => each.name === operation && each.deprecation);
      // A stranger's request is no call of a client.
      const isCall = isDeprecated && status !== 401;
      const names = isCall ? [...expected, 'DeprecatedCalls'] : expected;
      const seen = await observed(request(), { requestId: 'lambda-id' });
      const { response, line, metrics, byVersion, counted } = seen;
      expect(response.status).toBe(status);
      const { _aws, message, timestamp, durationMs, Latency, cause, ...rest } = line;
      expect(message).toMatch(/\S/);
      expect(new Date(timestamp).toISOString()).toBe(timestamp);
      expect(durationMs).toBeGreaterThanOrEqual(0);
      const failure = {
        name: expect.stringMatching(/^\w*(Error|Exception)$/),
        httpStatus: expect.any(Number),
        call: 'Query pets',
      };
      expect(cause).toEqual(status < 500 ? undefined : failure);
      // A handler may add fields.
      expect(rest).toMatchObject({
        level: status < 500 ? 'INFO' : 'ERROR',
        service: 'animal-store-test',
        operation,
        version: '42',
        status,
        extendedRequestId,
        lambdaRequestId: 'lambda-id',
        coldStart: false,
        Requests: 1,
        ...Object.fromEntries(names.map((name) => [name, 1])),
      });
      const isAuthenticated = status !== 401 && operation !== 'fallback';
      expect(rest.code).toBe(status >= 400 ? response.body.code : undefined);
      expect(rest.keyId).toBe(isAuthenticated ? keyId : undefined);
      const dimensions = { service: 'animal-store-test', operation };
      expect(metrics).toMatchObject({ namespace: 'AnimalStore', dimensions: [dimensions] });
      expect(counted).toEqual(Object.fromEntries(names.map((name) => [name, [1]])));
      expect(byVersion).toEqual({
        namespace: 'AnimalStore',
        dimensions: [{ ...dimensions, version: '42' }],
        units: expect.objectContaining({ Requests: 'Count', Latency: 'Milliseconds' }),
        values: {
          Requests: [1],
          ...(status >= 500 && { ServerErrors: [1] }),
          Latency: [durationMs],
        },
      });
    },
  );

  it('tells a cold start from the requests after it', async () => {
    const send = await coldStarted();
    expect((await observed(get, {}, send)).line.coldStart).toBe(true);
    expect((await observed(get, {}, send)).line.coldStart).toBe(false);
  });

  it.each([
    ['another secret', () => withChecksum(`pets_test_${keyId}_${'0'.repeat(64)}`)],
    ['an unknown id', () => generateApiKey('pets_test')],
  ])('names no key that has %s', async (_kind, other) => {
    const { response, line } = await observed({ headers: bearer(other()) });
    expect(response.status).toBe(401);
    expect(line).not.toHaveProperty('keyId');
  });

  it('has no request id and no trace id that a client can choose', async () => {
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=chosen-by-a-client');
    const { line } = await observed({ requestId: 'chosen-by-a-client' });
    expect(JSON.stringify(line)).not.toContain('chosen-by-a-client');
    expect(line.lambdaRequestId).toBe('request-id');
  });

  it('has a duration in milliseconds that covers all calls of DynamoDB', async () => {
    service.proxy.inject('GetItem Pets', delayed(200), 1);
    const { line, latencies } = await observed(get);
    expect(Math.max(...latencies)).toBeGreaterThan(150);
    expect(line.durationMs).toBeGreaterThanOrEqual(latencies.reduce((sum, ms) => sum + ms) - 0.1);
    // Nothing can take longer than the remaining time.
    expect(line.durationMs).toBeLessThan(10_000);
  });

  it('has the fields that a handler adds, but its own fields and metrics as they are', async () => {
    const { chain } = await import('../../lib/http/chain.ts');
    const handler = chain('listPets').handler(async (_event, { log }) => {
      log.addFields({ petsReturned: 3, isLastPage: false });
      log.addFields({ petsReturned: 4, status: 1, service: 'mine', Requests: 9 });
      return noContent();
    });
    const { line } = await observed({}, {}, (parts = {}) => invoke(handler, parts));
    const added = { petsReturned: 4, isLastPage: false };
    expect(line).toMatchObject({
      ...added,
      status: 204,
      service: 'animal-store-test',
      Requests: 1,
    });
  });

  it('is written when the handler throws, which API Gateway turns into 503', async () => {
    const { chain } = await import('../../lib/http/chain.ts');
    const handler = chain('broken').handler(async () => {
      throw new RangeError('secret');
    });
    const lines = captureLog();
    await expect(invoke(handler, {})).rejects.toThrow(RangeError);
    const failure = { level: 'ERROR', operation: 'broken', status: 503, ServerErrors: 1 };
    expect(readLines(lines)).toMatchObject([{ ...failure, cause: { name: 'RangeError' } }]);
    expect(lines.join()).not.toContain('secret');
  });

  it('names the items that could not be read, up to 100 and only in their own request', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `${index + 1}`);
    for (const id of ids) await service.putPet({ id: Number(id), status: 'sold' });
    const sold = { query: { status: 'sold', limit: `${maxLimit}` } };
    expect((await observed(sold)).line.corruptItems).toEqual(ids.slice(0, 100));
    expect((await observed(get)).line).not.toHaveProperty('corruptItems');
  });
});

describe('DynamoDBLatency', () => {
  const getPetCalls = exampleCallsOf({ name: 'getPet' });

  it('has a value in milliseconds for each call', async () => {
    const fresh = await service.issueApiKey();
    const { metrics, latencies } = await observed({ path: { petId }, headers: bearer(fresh) });
    expect(metrics?.units['DynamoDBLatency']).toBe('Milliseconds');
    expect(latencies).toHaveLength(1 + getPetCalls.length);
  });

  it.each([1, 3])('has one value for a call with retries, failed attempts: %i', async (times) => {
    service.proxy.inject('GetItem Pets', faults.status500, times);
    expect((await observed(get)).latencies).toHaveLength(getPetCalls.length);
  });

  it('has at most the 100 values that CloudWatch takes', async () => {
    // Each query ends without a pet, further in the list.
    let id = 0;
    const emptyPage: Fault = (exchange) => {
      id += 1;
      const LastEvaluatedKey = { id: { N: `${id}` }, status: { S: 'available' } };
      return respondWith(JSON.stringify({ Items: [], LastEvaluatedKey }))(exchange);
    };
    service.proxy.inject('Query Pets', emptyPage, 101);
    expect((await observed()).latencies).toHaveLength(100);
  });
});

import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { KeyMemory } from '../../lib/keys/key-memory.ts';
import { captureLog, expectOneFailure } from '../support/captured-log.ts';
import { bearer, type EventParts } from '../support/events.ts';
import { type Fault, faults, respondWith, stalls } from '../support/fault-proxy.ts';
import { startHandlers } from '../support/handlers.ts';
import { withChecksum } from './with-checksum.ts';

const service = await startHandlers();

beforeEach(() => {
  service.proxy.reset();
  vi.useFakeTimers({ toFake: ['Date'] });
});

const statusWith = async (apiKey: string) =>
  (await service.send({ headers: bearer(apiKey) })).status;

const passSeconds = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);

const statusAfter = (seconds: number, apiKey: string) => {
  passSeconds(seconds);
  return statusWith(apiKey);
};

const keyReads = () => service.proxy.completed.filter((call) => call === 'GetItem Keys').length;

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

/** A key that the function remembers. */
const usedKey = async (record = {}) => {
  const apiKey = await service.issueApiKey(record);
  expect(await statusWith(apiKey)).toBe(200);
  return apiKey;
};

describe('a key', () => {
  it.each([
    ['expired', () => service.issueApiKey({ expiresAt: inSeconds(-1) })],
    ['revoked', () => service.issueApiKey({ revokedAt: inSeconds(-1) })],
    ['revoked where the clock is fast', () => service.issueApiKey({ revokedAt: inSeconds(3_600) })],
    ['given an unreadable expiry', () => service.issueApiKey({ expiresAt: 'tomorrow' })],
  ])('is refused when it is %s', async (_kind, issue) => {
    expect(await statusWith(await issue())).toBe(401);
  });

  // API Gateway passes header names on as they came (infra/local/aws-behaviour.md: LocalStack, voker).
  it.each<[string, (key: string) => NonNullable<EventParts['headers']>]>([
    ['mistyped', (key) => bearer(key.replace(/.$/, (last) => (last === '0' ? '1' : '0')))],
    ['of another stage', () => bearer(generateApiKey('pets_live'))],
    ['given twice', (key) => ({ Authorization: [`Bearer ${key}`, `Bearer ${key}`] })],
    ['given in two spellings', (key) => ({ ...bearer(key), authorization: `Bearer ${key}` })],
  ])('is refused without a read of the keys table when it is %s', async (_kind, headersWith) => {
    const headers = headersWith(await service.issueApiKey());
    expect((await service.send({ headers })).status).toBe(401);
    expect(service.proxy.requests).toEqual([]);
  });

  it('ends exactly at its expiry, also while it is cached', async () => {
    const apiKey = await usedKey({ expiresAt: inSeconds(30) });
    expect(await statusAfter(29.999, apiKey)).toBe(200);
    expect(await statusAfter(0.001, apiKey)).toBe(401);
    expect(keyReads()).toBe(1);
  });
});

describe('the cache of keys', () => {
  it('reads a key once in 60 s, and then sees a revocation', async () => {
    const apiKey = await usedKey();
    await service.storeApiKey(apiKey, { revokedAt: inSeconds(0) });
    expect(await statusAfter(59.9, apiKey)).toBe(200);
    expect(keyReads()).toBe(1);
    expect(await statusAfter(0.1, apiKey)).toBe(401);
    expect(keyReads()).toBe(2);
  });

  it('reads an unknown key once in 10 s, and then sees that it was issued', async () => {
    const apiKey = generateApiKey('pets_test');
    expect(await statusWith(apiKey)).toBe(401);
    await service.storeApiKey(apiKey);
    expect(await statusAfter(9.9, apiKey)).toBe(401);
    expect(keyReads()).toBe(1);
    expect(await statusAfter(0.1, apiKey)).toBe(200);
  });

  it('does not trust a record that it read in the future, after the clock was set back', async () => {
    const apiKey = await usedKey();
    await service.storeApiKey(apiKey, { revokedAt: inSeconds(-7_200) });
    expect(await statusAfter(-3_600, apiKey)).toBe(401);
  });

  it('forgets what it knew of a key that is gone from the table', async () => {
    const apiKey = await usedKey();
    const Key = { keyId: apiKey.slice(10, 26) };
    await service.dynamodb.send(new DeleteCommand({ TableName: service.tables.keys, Key }));
    expect(await statusAfter(60, apiKey)).toBe(401);
    expect(await statusWith(apiKey)).toBe(401);
    expect(keyReads()).toBe(2);
  });
});

describe('a record of the keys table', () => {
  it.each([
    ['without an owner', { owner: undefined }],
    ['with text for its hash', { hash: 'x'.repeat(32) }],
    ['with a hash of 31 bytes', { hash: Buffer.alloc(31) }],
    ['with a number for its expiry', { expiresAt: 1_900_000_000 }],
    ['with a number for its revocation', { revokedAt: 1_900_000_000 }],
  ])('%s gets 500 and one log line', async (_kind, fault) => {
    const apiKey = await service.issueApiKey(fault);
    const lines = captureLog();
    expect(await statusWith(apiKey)).toBe(500);
    expectOneFailure(lines, {
      operation: 'listPets',
      cause: { name: 'Error', message: 'The item of this API key is malformed' },
    });
    expect(lines.join()).toContain(`"corruptItems":["${apiKey.slice(10, 26)}"]`);
  });

  it('of another key is read again, not seen as missing', async () => {
    const Item = { keyId: { S: '0000000000000000' } };
    const ofAnother = respondWith(JSON.stringify({ Item }));
    service.proxy.inject('GetItem Keys', ofAnother, 1);
    await usedKey();
    captureLog();
    service.proxy.inject('GetItem Keys', ofAnother);
    expect(await statusWith(await service.issueApiKey())).toBe(503);
  });
});

describe('an outage of the keys table', () => {
  const start = (fault = faults.status503) => {
    captureLog();
    service.proxy.inject('GetItem Keys', fault);
  };

  it('leaves only keys in force that were read in the last 5 minutes', async () => {
    const apiKey = await usedKey();
    start();
    for (const seconds of [60, 120, 119.9]) {
      expect(await statusAfter(seconds, apiKey)).toBe(200);
    }
    expect(await statusAfter(0.1, apiKey)).toBe(503);
    service.proxy.reset();
    expect(await statusWith(apiKey)).toBe(200);
  });

  it('leaves no key that was read in the future, before the clock was set back', async () => {
    const apiKey = await usedKey();
    start();
    expect(await statusAfter(-3_600, apiKey)).toBe(503);
  });

  it('does not slow down every request: the table is read again only after 5 s', async () => {
    const apiKey = await usedKey();
    start();
    await statusAfter(60, apiKey);
    const reads = keyReads();
    await statusAfter(4.9, apiKey);
    expect(keyReads()).toBe(reads);
    await statusAfter(0.1, apiKey);
    expect(keyReads()).toBeGreaterThan(reads);
  });

  it('leaves enough time for the operation when the table hangs', async () => {
    const request = { headers: bearer(await usedKey()) };
    start(stalls.hang);
    passSeconds(60);
    const { status } = await service.send(request, { remainingMs: 3_500 });
    expect(status).toBe(200);
  });

  it('returns 503, never 401, for a key that was not read before, and caches nothing about it', async () => {
    const apiKey = await service.issueApiKey();
    const unknown = generateApiKey('pets_test');
    start();
    expect(await statusWith(apiKey)).toBe(503);
    expect(await statusWith(unknown)).toBe(503);
    service.proxy.reset();
    expect(await statusWith(apiKey)).toBe(200);
    expect(await statusWith(unknown)).toBe(401);
  });

  it.each(['accessDenied', 'resourceNotFound'] as const)(
    'is not assumed after %s, so no key is accepted',
    async (fault) => {
      const apiKey = await usedKey();
      start(faults[fault]);
      const lines = captureLog();
      expect(await statusAfter(60, apiKey)).toBe(500);
      expectOneFailure(lines, { cause: { call: 'GetItem keys' } });
    },
  );

  it('does not extend a key beyond its expiry', async () => {
    const apiKey = await usedKey({ expiresAt: inSeconds(90) });
    start();
    expect(await statusAfter(89, apiKey)).toBe(200);
    expect(await statusAfter(1, apiKey)).toBe(401);
  });
});

describe('the memory of keys', () => {
  it('has room for 10,000 keys in use, and forgets those that were read longest ago', () => {
    const memory = new KeyMemory();
    const use = (id: number | string) => {
      memory.set(`${id}`, { record: undefined, readAt: 0, freshUntil: 0 });
      memory.prove(`${id}`);
    };
    const ids = Array.from({ length: 10_000 }, (_, id) => id);
    for (const id of [...ids, 1]) use(id);
    expect(ids.filter((id) => memory.get(`${id}`))).toHaveLength(ids.length);
    for (const other of ['one', 'two']) use(other);
    expect([0, 1, 2, 3].filter((id) => memory.get(`${id}`))).toEqual([1, 3]);
  });

  const recordOfAny: Fault = (exchange) => {
    const { keyId } = JSON.parse(`${exchange.request}`).Key;
    const hash = { B: Buffer.alloc(32).toString('base64') };
    const Item = { keyId, hash, owner: keyId, lastFour: keyId, createdAt: keyId };
    return respondWith(JSON.stringify({ Item }))(exchange);
  };

  it.each([
    ['made-up keys', respondWith('{}')],
    ['known key ids with wrong secrets', recordOfAny],
  ])('keeps a key in use, however many %s are sent', async (_kind, fault) => {
    const { authenticate } = await import('../../lib/keys/authenticate.ts');
    const memory = new KeyMemory(50);
    const log = { addCorruptItem: () => {}, addDynamodbLatency: () => {} };
    const context = { deadline: Number.POSITIVE_INFINITY, log };
    const isValid = async (key: string) => (await authenticate(key, context, memory)) !== undefined;
    const apiKey = await service.issueApiKey();
    expect(await isValid(apiKey)).toBe(true);
    service.proxy.inject('GetItem Keys', fault);
    for (let sent = 0; sent < 60; sent += 1)
      expect(await isValid(generateApiKey('pets_test'))).toBe(false);
    // A key that was read again would be invalid.
    expect(await isValid(apiKey)).toBe(true);
  });
});

describe('a key with a wrong secret', () => {
  it('is refused with the same work and the same response, wherever the secret starts to differ', async () => {
    const responseTo = (key: string) => service.send({ headers: bearer(key) });
    const apiKey = await service.issueApiKey();
    const unknown = await responseTo(generateApiKey('pets_test'));
    for (const at of [27, 28, 59, 89, 90]) {
      const digit = apiKey[at] === '0' ? '1' : '0';
      const wrong = withChecksum(apiKey.slice(0, at) + digit + apiKey.slice(at + 1, 91));
      passSeconds(60);
      service.proxy.reset();
      expect(await responseTo(wrong)).toEqual(unknown);
      expect(await responseTo(wrong)).toEqual(unknown);
      expect(service.proxy.requests).toEqual(['GetItem Keys']);
    }
    expect(unknown.status).toBe(401);
    expect(await statusWith(apiKey)).toBe(200);
  });
});

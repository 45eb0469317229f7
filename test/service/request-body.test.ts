import { describe, expect, it } from 'vitest';
import { maxBodyBytes, maxContentTypeLength } from '../../lib/contract/limits.ts';
import { creation, type Values } from '../support/events.ts';
import { startHandlers } from '../support/handlers.ts';

const service = await startHandlers();

const post = (body: string, isBase64Encoded = false) =>
  service.send({ method: 'POST', body, isBase64Encoded });

const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');

const valid = '{"name":"Rex","categoryId":1}';

describe('a body in base64', () => {
  it('is read like plain text', async () => {
    const { status, body } = await post(base64('{"name":"Zoë 🐶","categoryId":1}'), true);
    expect(status).toBe(201);
    expect(body.name).toBe('Zoë 🐶');
  });

  const notUtf8 = expect.stringMatching(/UTF-8/);

  it.each([
    ['is cut short', base64(valid).slice(0, -3), notUtf8],
    ['is not UTF-8', base64('{"name":"R\xe9x","categoryId":1}', 'latin1'), notUtf8],
    ['starts with a byte order mark', base64(`\ufeff${valid}`), expect.stringMatching(/mark/)],
    ['is empty', '', expect.stringMatching(/missing/)],
  ])('is refused with 400, and stores nothing, when it %s', async (_kind, text, message) => {
    const { length } = await service.storedPets();
    const { status, body } = await post(text, true);
    expect(status).toBe(400);
    expect(body.message).toEqual(message);
    expect(await service.storedPets()).toHaveLength(length);
  });

  it('is measured after it is decoded', async () => {
    expect((await post(base64(valid.padEnd(maxBodyBytes)), true)).status).toBe(201);
    expect((await post(base64(valid.padEnd(maxBodyBytes + 1)), true)).status).toBe(413);
  });
});

it('a body of nested lists is refused with 400 at any depth, also where one of two parsers overflows', async () => {
  for (let depth = 100; depth <= maxBodyBytes / 2; depth += 12) {
    const { status, body } = await post('['.repeat(depth) + ']'.repeat(depth));
    expect([depth, status]).toEqual([depth, 400]);
    // The body is valid JSON, so the message must not deny that.
    expect(body.message).toMatch(/JSON object|nested/);
  }
});

// Unverified: API Gateway may drop, merge or change some of these, so acceptance tests can't rely on them.
describe('a creation', () => {
  const type = 'application/json';

  it.each<[status: number, headers: Values, message?: string]>([
    [201, { 'Content-Type': [], 'CONTENT-TYPE': type }],
    [415, { 'Content-Type': [type, type] }, 'sent once'],
    // As `fetch` sends a header to which a program has appended a second value.
    [415, { 'Content-Type': `${type}, ${type}` }, 'sent once'],
    [415, { 'Content-Type': [type, 'text/plain'] }, 'Content-Type'],
    [415, { 'Content-Type': type, 'content-type': 'text/plain' }, 'Content-Type'],
    // As long as clients were promised.
    [201, { 'Content-Type': `${type};`.padEnd(255) }],
    [
      415,
      { 'Content-Type': `${type};`.padEnd(maxContentTypeLength + 1) },
      `at most ${maxContentTypeLength} characters`,
    ],
    [201, { 'content-encoding': 'Identity' }],
    [415, { 'Content-Encoding': 'gzip' }, 'Content-Encoding'],
    [415, { 'Content-Encoding': 'x-identity' }, 'Content-Encoding'],
    [415, { 'Content-Encoding': ['identity', 'br'] }, 'Content-Encoding'],
    [415, { 'Content-Encoding': 'identity, gzip' }, 'Content-Encoding'],
    [400, { 'Idempotency-Key': '' }, 'Idempotency-Key'],
    [400, { 'Idempotency-Key': 'clé' }, 'Idempotency-Key'],
    [400, { 'Idempotency-Key': ['one', 'two'] }, 'Idempotency-Key'],
    [400, { 'Idempotency-Key': ['one', 'one'] }, 'Idempotency-Key'],
  ])('gets %i with the headers %j', async (expected, headers, message) => {
    const { status, body } = await service.send(creation(undefined, headers));
    expect(status).toBe(expected);
    if (message) expect(body.message).toContain(message);
  });
});

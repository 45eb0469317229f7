import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../../lib/contract/requests.ts';
import { bearer, createRequest, invoke, startHandlers } from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

const service = await startHandlers();
const apiKey = await service.issueApiKey();

const post = (body: string, isBase64Encoded = false) =>
  invoke(service.createPet, { ...createRequest(apiKey), body, isBase64Encoded });

const base64 = (text: string) => Buffer.from(text).toString('base64');

const valid = '{"name":"Rex","categoryId":1}';

describe('a body in base64', () => {
  it('is read like plain text', async () => {
    const { status, body } = await post(base64('{"name":"Zoë 🐶","categoryId":1}'), true);
    expect(status).toBe(201);
    expect(body.name).toBe('Zoë 🐶');
  });

  const notUtf8 = 'The body is not valid UTF-8 in base64.';

  it.each([
    ['is not base64', valid, notUtf8],
    ['holds a character more that is not of base64', `!${base64(valid)}`, notUtf8],
    ['is cut short', base64(valid).slice(0, -3), notUtf8],
    [
      'is not UTF-8',
      Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1').toString('base64'),
      notUtf8,
    ],
    ['starts with a byte order mark', base64(`\ufeff${valid}`), 'The body is not valid JSON.'],
    ['is empty', '', 'The body is missing.'],
  ])('is refused with 400 when it %s', async (_kind, text, message) => {
    const { status, body } = await post(text, true);
    expect(status).toBe(400);
    expect(body.message).toBe(message);
  });

  it('is measured by what it decodes to', async () => {
    expect((await post(base64(valid.padEnd(8_192)), true)).status).toBe(201);
    expect((await post(base64(valid.padEnd(8_193)), true)).status).toBe(413);
  });
});

describe('a body', () => {
  it('is measured in bytes, not characters', async () => {
    const wide = JSON.stringify({ name: 'é'.repeat(255), categoryId: 1 });
    expect((await post(wide.padEnd(8_192 - 255))).status).toBe(201);
    expect((await post(wide.padEnd(8_193 - 255))).status).toBe(413);
  });

  const type = 'application/json';
  const json = { 'Content-Type': type };

  it.each<[status: number, kind: string, headers: NonNullable<EventParts['headers']>]>([
    [201, 'its Content-Type in capitals', { 'CONTENT-TYPE': type }],
    [415, 'two Content-Types', { 'Content-Type': [type, type] }],
    [415, 'two different Content-Types', { 'Content-Type': [type, 'text/plain'] }],
    [415, 'two spellings of Content-Type', { ...json, 'content-type': 'text/plain' }],
    [201, 'a Content-Type of 255 characters', { 'Content-Type': `${type};`.padEnd(255) }],
    [415, 'a Content-Type of 256 characters', { 'Content-Type': `${type};`.padEnd(256) }],
    [201, 'Content-Encoding: Identity', { ...json, 'content-encoding': 'Identity' }],
    [415, 'Content-Encoding: gzip', { ...json, 'Content-Encoding': 'gzip' }],
    [415, 'two Content-Encodings', { ...json, 'Content-Encoding': ['identity', 'br'] }],
    [415, 'a list of codings', { ...json, 'Content-Encoding': 'identity, gzip' }],
  ])('gets %i with %s', async (expected, _kind, headers) => {
    const request = { ...createRequest(apiKey), headers: { ...bearer(apiKey), ...headers } };
    const { status, body } = await invoke(service.createPet, request);
    expect(status).toBe(expected);
    if (status === 415) expect(body.code).toBe('unsupported_media_type');
  });

  it('stores nothing when it is refused', async () => {
    const before = (await service.storedPets()).length;
    for (const body of ['', 'null', '{"name":"Rex"}', '{"name":"Rex","categoryId":1,"x":1}']) {
      expect((await post(body)).status).toBe(400);
    }
    expect(await service.storedPets()).toHaveLength(before);
  });
});

describe('a name', () => {
  const characters = Array.from({ length: 0x11_0000 }, (_, codePoint) =>
    String.fromCodePoint(codePoint),
  );
  const hidden = characters.filter((character) =>
    /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(character),
  );

  it('is blank where it has only characters that Unicode calls white, control, format or ignorable', () => {
    expect(characters.filter((character) => !visible.test(character))).toEqual(hidden);
  });

  it('is refused with 400 when nothing of it can be seen', async () => {
    const single = [...'\u200b\u0000\u2060\u00ad\u007f\u3164\u{e0041}\ufe0f'];
    const mixed = fc.sample(fc.string({ unit: fc.constantFrom(...hidden), minLength: 1 }), 50);
    for (const name of [...single, ...mixed]) {
      const { status, body } = await post(JSON.stringify({ name, categoryId: 1 }));
      expect(status, JSON.stringify(name)).toBe(400);
      expect(body.message).toBe('name must be text of 1 to 255 characters that is not blank.');
    }
  });
});

// API Gateway may drop, merge or change such headers (unverified), so acceptance tests can't ask for this.
describe('an Idempotency-Key', () => {
  it.each([
    ['is empty', ''],
    ['has an accent', 'clé'],
    ['is given twice', ['one', 'two']],
    ['is given twice alike', ['one', 'one']],
  ])('is refused with 400 when it %s', async (_kind, key) => {
    const request = createRequest(apiKey, undefined, { 'Idempotency-Key': key });
    const { status, body } = await invoke(service.createPet, request);
    expect(status).toBe(400);
    expect(body.message).toBe('Idempotency-Key must be 1 to 255 visible ASCII characters.');
  });
});

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { invisible } from '../../lib/contract/request-schemas.ts';
import { bearer, createRequest, invoke, startHandlers } from '../support/handlers.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;

beforeAll(async () => {
  service = await startHandlers();
  apiKey = await service.issueApiKey();
});

const post = (body: string, isBase64Encoded = false) =>
  invoke(service.createPet, { ...createRequest(apiKey), body, isBase64Encoded });

const base64 = (text: string) => Buffer.from(text).toString('base64');

const rex = { name: 'Rex', categoryId: 1 };
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

  it.each([
    ['lists', '[', ']', 4_096],
    ['objects', '{"a":', '}', 1_300],
    ['unfinished lists', '[', '', 8_192],
  ])(
    'is refused with 400 when it is %s nested to its very limit',
    async (_kind, open, close, depth) => {
      const { status, body } = await post(
        open.repeat(depth) + (close && '[]') + close.repeat(depth).slice(2),
      );
      expect(status).toBe(400);
      expect(body.message).toMatch(
        /^(The body is not valid JSON|The body must be a JSON object|a is not known)\.$/,
      );
    },
  );

  it.each(fc.sample(fc.integer({ min: 1, max: 3_500 }), 20).concat(1, 32, 33))(
    'is refused with 400 when a field of it is nested %i deep',
    async (depth) => {
      const { status, body } = await post(
        `{"name":"Rex","categoryId":1,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      );
      expect(status).toBe(400);
      expect(body.message).toMatch(/^(The body is not valid JSON|x is not known)\.$/);
    },
  );

  it('may hold any number of brackets in a name', async () => {
    const name = '[{"\\'.repeat(60);
    const { status, body } = await post(JSON.stringify({ name, categoryId: 1 }));
    expect(status).toBe(201);
    expect(body.name).toBe(name);
  });

  it('may be announced by a Content-Type in any case, but by one alone', async () => {
    const request = createRequest(apiKey);
    const type = 'application/json';
    for (const [contentTypes, status] of [
      [{ 'CONTENT-TYPE': type }, 201],
      [{ 'Content-Type': [type, type] }, 415],
      [{ 'Content-Type': [type, 'text/plain'] }, 415],
      [{ 'Content-Type': type, 'content-type': 'text/plain' }, 415],
    ] as const) {
      const sent = { ...request, headers: { ...bearer(apiKey), ...contentTypes } };
      expect((await invoke(service.createPet, sent)).status).toBe(status);
    }
  });

  it.each([
    [
      'a Content-Type of more than 255 characters',
      { 'Content-Type': `application/json;${' '.repeat(239)}` },
    ],
    ['Content-Encoding: gzip', { 'Content-Encoding': 'gzip' }],
    ['Content-Encoding: identity and br', { 'Content-Encoding': ['identity', 'br'] }],
    ['a list of codings', { 'Content-Encoding': 'identity, gzip' }],
  ])('gets 415 with %s', async (_kind, headers) => {
    const { status, body } = await invoke(service.createPet, createRequest(apiKey, rex, headers));
    expect(status).toBe(415);
    expect(body.code).toBe('unsupported_media_type');
  });

  it.each([
    ['a Content-Type of 255 characters', { 'Content-Type': `application/json;${' '.repeat(238)}` }],
    ['Content-Encoding: Identity', { 'content-encoding': 'Identity' }],
  ])('is read with %s', async (_kind, headers) => {
    const { status } = await invoke(service.createPet, createRequest(apiKey, rex, headers));
    expect(status).toBe(201);
  });

  it.each(['__proto__', 'constructor'])(
    'is refused by the name of %s where it could pollute a prototype',
    async (name) => {
      const { status, body } = await post(
        `{"name":"Rex","categoryId":1,"${name}":{"prototype":{}}}`,
      );
      expect(status).toBe(400);
      expect(body.message).toBe(`${name} is not known.`);
    },
  );

  it.each(['constructor', '__proto__', '{"name"', 'undefined'])(
    'of the text %s is no JSON',
    async (text) => {
      const { status, body } = await post(text);
      expect(status).toBe(400);
      expect(body.message).toBe('The body is not valid JSON.');
    },
  );

  it('stores nothing when it is refused', async () => {
    const before = (await service.storedPets()).length;
    for (const body of [
      '',
      'null',
      '[]',
      '{"name":"Rex"}',
      '{"name":"Rex","categoryId":1,"x":1}',
    ]) {
      expect((await post(body)).status).toBe(400);
    }
    expect(await service.storedPets()).toHaveLength(before);
  });
});

const named = (name: string) => post(JSON.stringify({ name, categoryId: 1 }));

describe('a name', () => {
  const characters = Array.from({ length: 0x11_0000 }, (_, codePoint) =>
    String.fromCodePoint(codePoint),
  );
  const hidden = characters.filter((character) =>
    /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(character),
  );

  it('is blank where it has only characters that Unicode calls white, control, format or ignorable', () => {
    const blank = new RegExp(`[${invisible}]`, 'u');
    expect(characters.filter((character) => blank.test(character))).toEqual(hidden);
  });

  it('is refused with 400 when nothing of it can be seen', async () => {
    const alone = [
      '\u200b',
      '\u0000',
      '\u2060',
      '\u00ad',
      '\u007f',
      '\u3164',
      '\u{e0041}',
      '\ufe0f',
    ];
    const mixed = fc.sample(fc.string({ unit: fc.constantFrom(...hidden), minLength: 1 }), 50);
    for (const name of [...alone, ...mixed]) {
      const { status, body } = await named(name);
      expect(status, JSON.stringify(name)).toBe(400);
      expect(body.message).toBe('name must be text of 1 to 255 characters that is not blank.');
    }
  });

  it.each(['عربي', '👩‍👩‍👧', '❤️', 'می‌خواهم', '\u200bx', 'क्ष', '.', '\u00a0é'])(
    'is kept as sent: %j',
    async (name) => {
      const { status, body } = await named(name);
      expect(status).toBe(201);
      expect(body.name).toBe(name);
    },
  );
});

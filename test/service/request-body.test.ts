import { beforeAll, describe, expect, it } from 'vitest';
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
    ['[', 32, 'The body must be a JSON object.'],
    ['[', 33, 'The body is nested too deeply.'],
    ['{"a":', 33, 'The body is nested too deeply.'],
  ])('of %s nested %i deep is refused: %3$s', async (bracket, depth, message) => {
    const closing = bracket === '[' ? ']' : '}';
    const { status, body } = await post(`${bracket.repeat(depth)}1${closing.repeat(depth)}`);
    expect(status).toBe(400);
    expect(body.message).toBe(message);
  });

  it.each([
    ['lists', '[]'],
    ['objects', '{}'],
  ])('may hold any number of %s side by side', async (_kind, member) => {
    const { body } = await post(`[${Array(40).fill(member)}]`);
    expect(body.message).toBe('The body must be a JSON object.');
  });

  it('is refused whatever brackets a text before the nesting holds', async () => {
    const { body } = await post(`{"name":"${']}'.repeat(40)}","x":${'['.repeat(33)}`);
    expect(body.message).toBe('The body is nested too deeply.');
  });

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

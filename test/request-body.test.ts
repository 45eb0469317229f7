import { beforeAll, describe, expect, it } from 'vitest';
import { createRequest, invoke, startHandlers } from './handlers.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;

beforeAll(async () => {
  service = await startHandlers();
  apiKey = await service.issueApiKey();
});

const post = (body: string, isBase64Encoded = false) =>
  invoke(service.createPet, { ...createRequest(apiKey), body, isBase64Encoded });

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a body in base64', () => {
  it('is read like plain text', async () => {
    const { status, body } = await post(base64('{"name":"Zoë 🐶","categoryId":1}'), true);
    expect(status).toBe(201);
    expect(body.name).toBe('Zoë 🐶');
  });

  it.each([
    ['is not base64', '{"name":"Rex","categoryId":1}'],
    ['is cut short', base64('{"name":"Rex","categoryId":1}').slice(0, -3)],
    ['is not UTF-8', Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1').toString('base64')],
    ['starts with a byte order mark', base64('\ufeff{"name":"Rex","categoryId":1}')],
    ['is empty', ''],
  ])('is refused with 400 when it %s', async (_kind, body) => {
    expect((await post(body, true)).status).toBe(400);
  });

  it('is measured by what it decodes to', async () => {
    const valid = '{"name":"Rex","categoryId":1}';
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

  it('may hold any number of brackets in a name', async () => {
    const name = '[{"\\'.repeat(60);
    const { status, body } = await post(JSON.stringify({ name, categoryId: 1 }));
    expect(status).toBe(201);
    expect(body.name).toBe(name);
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

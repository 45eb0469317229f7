import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { maxBodyBytes, maxIdempotencyKeyLength } from '../../lib/contract/limits.ts';
import { newPetStatuses, wrongFields } from '../support/new-pets.ts';
import { contract } from '../support/openapi-document.ts';
import { authorization, create, expectError, expectInvalid, send, store } from './client.ts';

const valid = '{"name":"Rex","categoryId":1}';
/** Returns a valid body of so many bytes, which has fewer characters. */
const bodyOf = (bytes: number) => {
  const name = 'é'.repeat(100);
  return JSON.stringify({ name, categoryId: 1 }).padEnd(bytes - name.length);
};

/** Sends a body with a media type, or with none. */
const createAs = (type: string | undefined, body: string | undefined = valid) => {
  const typeHeaders = type === undefined ? [] : [['Content-Type', type] as const];
  return send({ method: 'POST', path: '/pets', headers: [authorization, ...typeHeaders], body });
};

describe('POST /pets', () => {
  it.each([
    ...newPetStatuses.map((status) => [status, { status }] as const),
    ['available', {}] as const,
  ])('returns 201 with the pet, its id and status %s for %j', async (status, fields) => {
    const response = await create({ name: 'Rex', categoryId: 1, ...fields });
    expect(response.status).toBe(201);
    const pet = JSON.parse(response.text);
    expect(pet).toEqual({ id: pet.id, name: 'Rex', categoryId: 1, status });
    expect(pet.id).toSatisfy(Number.isSafeInteger);
    expect(pet.id).toBeGreaterThan(0);
  });

  it.each([
    ['one character', 'x'],
    ['letters between spaces', '  Rex '],
    ['decomposed accents', 'Zoe\u0308'],
    ['markup and quotes', '<b>"Rex"</b> \\ \u0000 \u2028'],
    ['a zero-width space', '\u200b'],
  ])('stores a name of %s as sent', async (_kind, name) => {
    const { status, text } = await create({ name, categoryId: 1 });
    expect(status).toBe(201);
    expect(JSON.parse(text).name).toBe(name);
  });

  it('accepts the longest texts with every character escaped', async () => {
    const { properties = {} } = contract.components.schemas['NewPet'] ?? {};
    const texts = Object.entries(properties).flatMap(([field, { maxLength }]) =>
      maxLength === undefined ? [] : [[field, '🐶'.repeat(maxLength)]],
    );
    const pet = { ...JSON.parse(valid), ...Object.fromEntries(texts) };
    const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16)}`;
    const { status, text } = await create(JSON.stringify(pet).replaceAll(/[^ -~]/g, escaped));
    expect(status, `Raise maxBodyBytes in lib/contract/limits.ts: ${text}`).toBe(201);
    expect(JSON.parse(text)).toMatchObject(pet);
  });
});

describe('POST /pets with a body', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['null', 'null'],
    ['an array', `[${valid}]`],
    ['a string', '"Rex"'],
    ['cut short', valid.slice(0, -1)],
    ['two documents', `${valid}\n${valid}`],
    ['led by a byte order mark', `\ufeff${valid}`],
  ])('returns 400 for a body that is %s', async (_kind, body) => {
    expectError(await create(body), 400, 'invalid_request');
  });

  /** Invalid values of a field, as JSON; an empty text leaves the field out. */
  const wrong: readonly (readonly [field: string, values: readonly string[]])[] = [
    ...Object.entries(wrongFields),
    ['id', ['1']],
    ['colour', ['"brown"']],
    ['Name', ['"Rex"']],
    ['__proto__', ['{"admin":true}', 'null']],
    ['constructor', ['{"prototype":{"admin":true}}', '1']],
    ['toString', ['1']],
  ];

  it.each(
    wrong.flatMap(([field, values]) => values.map((value) => [field, value.slice(0, 40), value])),
  )('returns 400 and names %s when it is %s', async (field, _start, value) => {
    const members = new Map([
      ['name', '"Rex"'],
      ['categoryId', '1'],
      [field, value],
    ]);
    const present = [...members].filter(([, text]) => text !== '');
    const body = `{${present.map(([name, text]) => `"${name}":${text}`).join()}}`;
    expectInvalid(await create(body), new RegExp(`^(field )?${field} `));
  });

  it('names every offending field at once', async () => {
    const response = await create('{"status":"lost","colour":"brown"}');
    for (const field of ['name', 'categoryId', 'status', 'colour']) expectInvalid(response, field);
  });

  it('does not repeat an unknown field whose name is long or not plain', async () => {
    for (const name of ['x'.repeat(33), 'pets_live_0', 'xpets_test_0', '\u0000', '<b>', '']) {
      const response = await create({ name: 'Rex', categoryId: 1, [name]: 1 });
      expectInvalid(response, `a field with a name of length ${name.length} `);
    }
  });

  it('returns 413 for a body of one byte more than it may have', async () => {
    expect((await create(bodyOf(maxBodyBytes + 1))).status).toBe(413);
  });

  it.each<[status: number | number[], type: string | undefined, body?: string]>([
    [201, 'application/json'],
    [201, 'Application/JSON; charset=UTF-8'],
    [201, 'application/json;charset="utf-8"'],
    [201, 'application/json; charset=utf8'],
    [415, 'text/plain'],
    [415, 'application/merge-patch+json'],
    [415, 'application/json; charset=iso-8859-1'],
    [415, 'application/json; charset=utf-8-sig'],
    [415, 'application/json; charset=x-utf-8'],
    [415, 'json'],
    [415, '/'],
    [415, undefined],
    [415, 'text/plain', ''],
    [400, undefined, ''],
    // The firewall, where a stage has one, sees the size before a function sees the media type.
    [[413, 415], 'text/plain', 'x'.repeat(maxBodyBytes + 1)],
  ])(
    'returns %j for the media type %s, which is checked before the body',
    async (status, type, body) => {
      expect([status].flat()).toContain((await createAs(type, body)).status);
    },
  );
});

describe('Idempotency-Key', () => {
  it('creates one pet for two calls of the typed client, and is refused for another pet', async () => {
    const idempotencyKey = randomUUID();
    const rex = { name: 'Rex', categoryId: 1 };
    const first = await store.createPet(rex, { idempotencyKey });
    expect(await store.createPet(rex, { idempotencyKey })).toEqual(first);
    expect((await store.createPet(rex)).id).not.toBe(first.id);
    const other = store.createPet({ ...rex, name: 'Max' }, { idempotencyKey });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused', status: 422 });
  });

  it('creates one pet for requests with the same key and body', async () => {
    const key = [['Idempotency-Key', randomUUID()]] as const;
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(valid, key)));
    responses.push(await create('{ "categoryId": 1, "status": "available", "name": "Rex" }', key));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.at(-1)?.headers).toMatchObject({ 'idempotent-replayed': 'true' });
  });

  it.each([
    ['longer than it may be', 'x'.repeat(maxIdempotencyKeyLength + 1)],
    ['two words', 'two words'],
  ])('gets 400 when it is %s', async (_kind, key) => {
    expect((await create(valid, [['Idempotency-Key', key]])).status).toBe(400);
  });
});

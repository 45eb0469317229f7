import { describe, expect, inject, it } from 'vitest';
import { type ClientRequest, type ClientResponse, sendTo } from '../support/http-client.ts';
import {
  apiKey,
  authorization,
  create,
  eventually,
  expectError,
  expectInvalid,
  expectRefused,
  send,
} from './client.ts';

const successorOf = ({ headers }: ClientResponse) =>
  /^<(.*)>/.exec(`${headers['link']}`)?.[1] ?? '';

const expectDeprecation = ({ headers }: ClientResponse) => {
  expect.soft(headers['deprecation']).toBe('@1795219200');
  expect.soft(headers['sunset']).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  expect.soft(headers['link']).toMatch(/^<\/.*\/pets>; rel="successor-version"$/);
};

/** Asks until the pet is found. */
const find = (request: ClientRequest) =>
  eventually(async () => {
    const response = await send(request);
    expect(response.status).not.toBe(404);
    return response;
  });

type Conditions = (tag: string) => readonly string[];

/** Gets a new pet twice, the second time with the conditions that are made of its entity tag. */
const getUnless = async (conditionsFor: Conditions, method = 'GET') => {
  const path = `/pets/${JSON.parse((await create({ name: 'Rex', categoryId: 1 })).text).id}`;
  const found = await find({ path });
  const conditions = conditionsFor(`${found.headers['etag']}`);
  const headers = conditions.map((condition) => ['If-None-Match', condition] as const);
  const request = { method, path, headers: [authorization, ...headers] };
  return { found, conditional: await find(request) };
};

describe('GET /pets/{petId}', () => {
  it('answers 200 with the pet as it was created', async () => {
    const created = await create('{"name":"Zoë 🐶","categoryId":9223372036854775807}');
    const found = await find({ path: `/pets/${JSON.parse(created.text).id}` });
    expect(found.status).toBe(200);
    expect(found.text).toBe(created.text);
    expect(found.headers['content-type']).toBe('application/json');
  });

  it('says on every response that it is deprecated, when it ends and what replaces it', async () => {
    const { id } = JSON.parse((await create({ name: 'Rex', categoryId: 1 })).text);
    expectDeprecation(await find({ path: `/pets/${id}` }));
    expectDeprecation(await send({ path: '/pets/1' }));
    const wrongKey = [['Authorization', `Bearer ${apiKey}0`]] as const;
    expectDeprecation(await send({ path: '/pets/1', headers: wrongKey }));
  });

  it('links to a successor that works', async () => {
    const successor = successorOf(await send({ path: '/pets/1' }));
    const { origin } = new URL(inject('baseAddress'));
    const { status } = await sendTo(origin, { path: successor, headers: [authorization] });
    expect(status).toBe(200);
  });

  it('ignores a slash at the end of the path, in the link to its successor too', async () => {
    const response = await send({ path: '/pets/abc/' });
    expectError(response, 404, 'not_found');
    expect(successorOf(response)).toBe(successorOf(await send({ path: '/pets/1' })));
  });

  it('answers 400 naming an unknown parameter', async () => {
    const message = 'query parameter fields is not known.';
    expectInvalid(await send({ path: '/pets/1?fields=name' }), message);
  });

  it.each([
    ['of no pet', '1'],
    ['the largest there can be', '9007199254740991'],
    ['larger than any', '9007199254740993'],
    ['2^63', '9223372036854775808'],
    ['text', 'abc'],
    ['a fraction', '1.5'],
    ['an exponent', '1e3'],
    ['hexadecimal', '0x1'],
    ['zero', '0'],
    ['led by zeros', '007'],
    ['negative', '-1'],
    ['signed', '+1'],
    ['300 digits', '1'.repeat(300)],
    ['a slash', '1%2f2'],
    ['spaces', '%201%20'],
    ['digits of another script', '%D9%A1'],
  ])('answers 404 to an id that is %s', async (_kind, id) => {
    expectError(await send({ path: `/pets/${id}` }), 404, 'not_found');
  });

  it.each([
    ['broken percent-encoding', '%'],
    ['percent-encoding that is not UTF-8', '%ff%zz'],
    ['a NUL', '%00'],
    ['dots', '%2e%2e'],
  ])('answers 400 or 404 to an id that is %s', async (_kind, id) => {
    expectRefused(await send({ path: `/pets/${id}` }));
  });
});

describe('GET /pets/{petId} with If-None-Match', () => {
  it.each<[string, Conditions]>([
    ['the entity tag', (tag) => [tag]],
    ['the tag marked as weak', (tag) => [`W/${tag}`]],
    ['a list with the tag', (tag) => [`"a,b", W/"" ,${tag}, "c"`]],
    ['the tag in one of two headers', (tag) => ['"other"', tag]],
    ['an asterisk', () => ['*']],
  ])('answers 304 without a body, but with the headers of 200, to %s', async (_kind, tags) => {
    const { found, conditional } = await getUnless(tags);
    expect(conditional.status, conditional.text).toBe(304);
    expect(conditional.text).toBe('');
    expect(conditional.headers['etag']).toBe(found.headers['etag']);
    expect(conditional.headers['cache-control']).toBe('no-store');
    expectDeprecation(conditional);
  });

  it.each<[string, Conditions]>([
    ['another tag', () => ['"other"']],
    ['the tag without its quotes', (tag) => [tag.replaceAll('"', '')]],
    ['the tag in another case', (tag) => [tag.toUpperCase()]],
    ['an asterisk in quotes', () => ['"*"']],
    ['a quote that never ends', () => ['"']],
    ['nothing', () => ['']],
  ])('answers 200 with the pet to %s', async (_kind, conditions) => {
    const { found, conditional } = await getUnless(conditions);
    expect(conditional.status).toBe(200);
    expect(conditional.text).toBe(found.text);
    expect(conditional.headers['etag']).toBe(found.headers['etag']);
  });

  it('answers 304 to HEAD too', async () => {
    const { conditional } = await getUnless((tag) => [tag], 'HEAD');
    expect(conditional.status).toBe(304);
  });

  it('gives different pets different tags', async () => {
    const [one, other] = await Promise.all([getUnless(() => []), getUnless(() => [])]);
    expect(one.found.headers['etag']).not.toBe(other.found.headers['etag']);
  });

  it('asks for the API key, and for the pet, before it looks at the tag', async () => {
    const anyTag = ['If-None-Match', '*'] as const;
    const wrongKey = ['Authorization', `Bearer ${apiKey}0`] as const;
    const refused = await send({ path: '/pets/1', headers: [wrongKey, anyTag] });
    expectError(refused, 401, 'unauthorized');
    const unknown = await send({ path: '/pets/1', headers: [authorization, anyTag] });
    expectError(unknown, 404, 'not_found');
    expect(unknown.headers['etag']).toBeUndefined();
  });
});

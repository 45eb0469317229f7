import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';
import { inListOrder, nextPageQuery } from '../support/lists.ts';
import { create, eventually, expectInvalid, expectRefused, send } from './client.ts';

const list = async (query: string) => {
  const { status, headers, text } = await send({ path: `/pets${query}` });
  expect(status, text).toBe(200);
  const pets: Pet[] = JSON.parse(text);
  const link = headers['link'] === undefined ? undefined : `${headers['link']}`;
  const next = nextPageQuery(link);
  return { pets, next: next && `?${next}`, link };
};

/** All pages of a list, by their links. */
const walk = async (query: string) => {
  const pages = [];
  for (let next: string | undefined = query; next !== undefined; ) {
    const page = await list(next);
    expect(page.next === undefined).toBe(page.link === undefined);
    pages.push(page.pets);
    next = page.next;
  }
  return pages;
};

describe('GET /pets', () => {
  const marker = randomUUID();
  const mine = (pets: readonly Pet[]) => pets.filter(({ name }) => name.startsWith(marker));
  let created: Pet[] = [];

  beforeAll(async () => {
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, number) =>
        create({
          name: `${marker} ${number}`,
          categoryId: number,
          status: petStatuses[number % 3],
        }),
      ),
    );
    created = inListOrder(responses.map(({ text }) => JSON.parse(text)));
    await eventually(async () => {
      expect(mine((await walk('?limit=100')).flat())).toHaveLength(60);
    });
  });

  it('holds 20 pets a page unless limit says otherwise', async () => {
    expect((await list('')).pets).toHaveLength(20);
    expect((await list('?limit=1')).pets).toHaveLength(1);
    expect((await list('?limit=37')).pets).toHaveLength(37);
  });

  it.each(
    ['', 'status=available&', 'status=pending&', 'status=sold&'].flatMap((filter) =>
      [7, 100].map((limit) => `?${filter}limit=${limit}`),
    ),
  )(
    'shows each pet exactly once and in order on a walk over %s, all pages but the last full',
    async (query) => {
      const pages = await walk(query);
      const pets = pages.flat();
      const limit = Number(/limit=(\d+)/.exec(query)?.[1]);
      expect(pets).toEqual(inListOrder(pets));
      expect(new Set(pets.map(({ id }) => id)).size).toBe(pets.length);
      const wanted = /status=(\w+)/.exec(query)?.[1];
      const isWanted = ({ status }: Pet) => wanted === undefined || status === wanted;
      expect(pets.every(isWanted)).toBe(true);
      expect(mine(pets)).toEqual(created.filter(isWanted));
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
      expect(pages.at(-1)?.length).toBeGreaterThan(0);
    },
  );

  it('ignores a slash at the end of the path, in the link to the next page too', async () => {
    const query = '?status=sold&limit=2';
    const { status, headers } = await send({ path: `/pets/${query}` });
    const [target] = `${headers['link']}`.split('?');
    expect(status).toBe(200);
    expect(target).toBe((await list(query)).link?.split('?')[0]);
  });

  it('answers 400 naming cursor when it is empty, made up or of another list', async () => {
    const { next = '' } = await list('?status=sold&limit=1');
    for (const query of [
      '?cursor=',
      `?cursor=${'A'.repeat(20)}`,
      next.replace('sold', 'pending'),
    ]) {
      const response = await send({ path: `/pets${query}` });
      expectInvalid(response, 'cursor is not one that this list has given.');
    }
  });
});

describe('a bad query', () => {
  const limits = ['0', '101', '-1', '1.5', '1e1', '0x10', '', 'abc', '+5', '%205', '05', '%D9%A1'];
  const statuses = ['lost', 'Available', 'available,sold', ''];

  it.each([
    ...limits.map((limit) => [`limit=${limit}`, 'limit must be an integer from 1 to 100.']),
    ...statuses.map((status) => [
      `status=${status}`,
      'status must be one of available, pending, sold.',
    ]),
    ['limit=1&limit=2', 'query parameter limit is given twice.'],
    ['limit=1&limit=1', 'query parameter limit is given twice.'],
    ['status=sold&status=sold', 'query parameter status is given twice.'],
    ['cursor=&cursor=', 'query parameter cursor is given twice.'],
    ['Limit=1', 'query parameter Limit is not known.'],
    ['limit=1&offset=20', 'query parameter offset is not known.'],
    ['__proto__=1', 'query parameter __proto__ is not known.'],
    ['constructor=1', 'query parameter constructor is not known.'],
    ['toString', 'query parameter toString is not known.'],
    // A name that is unprintable is not repeated.
    ['%3Cscript%3E=1', 'a query parameter with an unprintable name is not known.'],
  ])('of GET /pets gets 400: %s', async (query, message = '') => {
    expectInvalid(await send({ path: `/pets?${query}` }), message);
  });

  it.each([
    { path: '/pets/1?a=1' },
    { method: 'POST', path: '/pets?a=1', body: '{"name":"Rex","categoryId":1}' },
  ])('of an operation without parameters gets 400: %j', async (request) => {
    expectInvalid(await send(request), 'query parameter a is not known.');
  });

  it('gets 400 or 404 for a limit that is a NUL', async () => {
    expectRefused(await send({ path: '/pets?limit=%00' }));
  });
});

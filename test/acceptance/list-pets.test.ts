import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Pet, petStatuses } from '../../lib/contract/bodies.ts';
import { nextPageQuery } from '../support/next-page.ts';
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

const inOrder = (pets: readonly Pet[]) =>
  pets.toSorted(
    (left, right) =>
      petStatuses.indexOf(left.status) - petStatuses.indexOf(right.status) || left.id - right.id,
  );

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
    created = inOrder(responses.map(({ text }) => JSON.parse(text)));
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
      expect(pets).toEqual(inOrder(pets));
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

describe('GET /pets, bad queries', () => {
  const limitMessage = 'limit must be an integer from 1 to 100.';
  const statusMessage = 'status must be one of available, pending, sold.';

  it.each(['0', '101', '-1', '1.5', '1e1', '0x10', '', 'abc', '+5', '%205', '05', '%D9%A1'])(
    'answers 400 naming limit when it is %j',
    async (limit) => {
      expectInvalid(await send({ path: `/pets?limit=${limit}` }), limitMessage);
    },
  );

  it('answers 400 to a limit that is a NUL', async () => {
    expectRefused(await send({ path: '/pets?limit=%00' }));
  });

  it.each(['lost', 'Available', 'available,sold', ''])(
    'answers 400 naming status when it is %j',
    async (status) => {
      expectInvalid(await send({ path: `/pets?status=${status}` }), statusMessage);
    },
  );

  it.each([
    ['limit', 'limit=1&limit=2'],
    ['limit', 'limit=1&limit=1'],
    ['status', 'status=sold&status=sold'],
    ['cursor', 'cursor=&cursor='],
  ])('answers 400 naming %s when it is given twice', async (name, query) => {
    expectInvalid(
      await send({ path: `/pets?${query}` }),
      `query parameter ${name} is given twice.`,
    );
  });

  it.each([
    ['Limit', 'Limit=1'],
    ['offset', 'limit=1&offset=20'],
    ['__proto__', '__proto__=1'],
    ['constructor', 'constructor=1'],
    ['toString', 'toString'],
  ])('answers 400 naming the unknown parameter %s', async (name, query) => {
    expectInvalid(await send({ path: `/pets?${query}` }), `query parameter ${name} is not known.`);
  });

  it('does not repeat an unknown parameter whose name is unprintable', async () => {
    const message = 'a query parameter with an unprintable name is not known.';
    expectInvalid(await send({ path: '/pets?%3Cscript%3E=1' }), message);
  });
});

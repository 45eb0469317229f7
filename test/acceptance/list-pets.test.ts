import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { petStatuses } from '../../lib/contract/pet.ts';
import { sendTo } from '../support/http-client.ts';
import { inListOrder } from '../support/in-list-order.ts';
import { newPetStatuses } from '../support/new-pets.ts';
import { authorization, baseAddress, eventually, expectInvalid, send, store } from './client.ts';

const marker = randomUUID();
const created = inListOrder(
  await Promise.all(
    Array.from({ length: 60 }, (_, number) => {
      const pet = { name: `${marker} ${number}`, categoryId: number };
      return store.createPet({ ...pet, status: newPetStatuses[number % newPetStatuses.length] });
    }),
  ),
);

describe('GET /pets', () => {
  it.each(
    // A stage keeps the pets of every run, and its firewall counts each page.
    [undefined, ...petStatuses].flatMap((status) =>
      [37, maxLimit].map((limit) => ({ status, limit })),
    ),
  )('shows each pet exactly once on a walk with %j', async (query) => {
    const isWanted = ({ status }: { status: string }) => status === (query.status ?? status);
    await eventually(async () => {
      const pets = await Array.fromAsync(store.listPets(query));
      expect(pets.filter(isWanted)).toEqual(pets);
      expect(new Set(pets.map(({ id }) => id)).size).toBe(pets.length);
      const mine = pets.filter(({ name }) => name.startsWith(marker));
      expect(inListOrder(mine)).toEqual(created.filter(isWanted));
    });
  });

  it.each([undefined, 1, 37])('returns as many pets per page as limit %s says', async (limit) => {
    expect((await store.listPetsPage({ limit })).pets).toHaveLength(limit ?? 20);
  });

  it('links to the next page, from a path that ends in a slash too', async () => {
    const nextOf = async (path: string) => {
      const { link } = (await send({ path: `${path}?status=sold&limit=2` })).headers;
      return /^<([^>]*)>; rel="next"/.exec(`${link}`)?.[1] ?? '';
    };
    const next = await nextOf('/pets');
    const { origin } = new URL(baseAddress);
    const { status } = await sendTo(origin, { path: next, headers: [authorization] });
    expect(status).toBe(200);
    expect((await nextOf('/pets/')).split('?')[0]).toBe(next.split('?')[0]);
  });

  it('returns 400 and names cursor when it is empty, made up or of another list', async () => {
    const { nextCursor } = await store.listPetsPage({ status: 'sold', limit: 1 });
    for (const query of ['cursor=', `cursor=${'A'.repeat(20)}`, `cursor=${nextCursor}`]) {
      const response = await send({ path: `/pets?status=pending&${query}` });
      expectInvalid(response, /^cursor /);
    }
  });
});

describe('a bad query', () => {
  const limits = ['0', `${maxLimit + 1}`, '-1', '1.5', '1.0', '1e1', '', 'abc', '+5', '%205', '05'];
  const statuses = ['lost', 'Available', 'available,sold', ''];

  it.each([
    ...limits.map((limit) => [`limit=${limit}`, 'limit']),
    ...statuses.map((status) => [`status=${status}`, 'status']),
    ['limit=1&limit=2', 'limit'],
    ['limit=1&limit=1', 'limit'],
    ['status=sold&status=sold', 'status'],
    ['cursor=&cursor=', 'cursor'],
    ['Limit=1', 'query parameter Limit'],
    ['limit=1&offset=20', 'query parameter offset'],
    ['__proto__=1', 'query parameter __proto__'],
    ['constructor=1', 'query parameter constructor'],
    ['status%5B%5D=sold&status%5B%5D=pending', 'query parameter status[]'],
    ['limit=1&amp%3Bstatus=sold', 'query parameter amp;status'],
    ['limit=1&%20status=sold', 'a query parameter with a name of length 7'],
    ['%3Cscript%3E=1', 'a query parameter with a name of length 8'],
  ])('of GET /pets gets 400: %s names %s', async (query, what = '') => {
    expectInvalid(await send({ path: `/pets?${query}` }), `${what} `);
  });

  it.each([
    { path: '/pets/1?a=1' },
    { method: 'POST', path: '/pets?a=1', body: '{"name":"Rex","categoryId":1}' },
  ])('of an operation without parameters gets 400: %j', async (request) => {
    expectInvalid(await send(request), 'query parameter a ');
  });
});

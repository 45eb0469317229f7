import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Pet, petStatuses } from '../../lib/contract/pet.ts';
import { bearer, invoke, startHandlers } from '../support/handlers.ts';
import { nextPageQuery } from '../support/next-page.ts';

let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;

/** In the order of a list: 30 available pets, 3 pending, 20 sold. */
const pets: readonly Pet[] = petStatuses.flatMap((status, statusIndex) =>
  Array.from({ length: [30, 3, 20][statusIndex] ?? 0 }, (_, number) => ({
    id: 7 + number * 3 + statusIndex,
    name: `${status} ${number}`,
    categoryId: number,
    status,
  })),
);

beforeAll(async () => {
  service = await startHandlers();
  apiKey = await service.issueApiKey();
  const puts = pets.map((Item) => new PutCommand({ TableName: service.tables.pets, Item }));
  await Promise.all(puts.map((put) => service.dynamodb.send(put)));
});

const page = async (query: Record<string, string>) => {
  const { status, body, headers } = await invoke(service.listPets, {
    headers: bearer(apiKey),
    query,
  });
  expect(status).toBe(200);
  const target = nextPageQuery(headers['Link']);
  expect(target === undefined).toBe(headers['Link'] === undefined);
  const next = target === undefined ? undefined : Object.fromEntries(new URLSearchParams(target));
  return { listed: body, next };
};

const walk = async (query: Record<string, string>) => {
  const pages: Pet[][] = [];
  for (let next: Record<string, string> | undefined = query; next; ) {
    const current: Awaited<ReturnType<typeof page>> = await page(next);
    pages.push(current.listed);
    next = current.next;
  }
  return pages;
};

const limits = Array.from({ length: 100 }, (_, index) => index + 1);

describe.each([undefined, ...petStatuses])('a list of %s pets', (status) => {
  const expected = pets.filter((pet) => status === undefined || pet.status === status);

  it('shows each pet exactly once, in order, on full pages but the last, whatever the limit', async () => {
    for (const limit of limits) {
      const pages = await walk({ limit: `${limit}`, ...(status && { status }) });
      expect(pages.flat()).toEqual(expected);
      expect(pages).toHaveLength(Math.ceil(expected.length / limit));
      for (const full of pages.slice(0, -1)) expect(full).toHaveLength(limit);
    }
  });
});

describe('a page', () => {
  it('holds 20 pets unless limit says otherwise', async () => {
    expect((await page({})).listed).toEqual(pets.slice(0, 20));
  });

  it('costs one request, and one more for each status that ends on it', async () => {
    const requestsFor = async (query: Record<string, string>) => {
      await page(query);
      service.proxy.reset();
      await page(query);
      return service.proxy.requests;
    };
    expect(await requestsFor({ limit: '20' })).toEqual(['Query Pets']);
    expect(await requestsFor({ limit: '29' })).toEqual(['Query Pets']);
    expect(await requestsFor({ limit: '30' })).toEqual(['Query Pets', 'Query Pets']);
    expect(await requestsFor({ limit: '100', status: 'pending' })).toEqual(['Query Pets']);
    expect(await requestsFor({ limit: '100' })).toEqual(Array(3).fill('Query Pets'));
  });

  it('reads one pet more than it holds at most, whatever status ends on it', async () => {
    const read: number[] = [];
    service.proxy.reset();
    service.proxy.inject('Query Pets', async ({ response, forward }) => {
      const { status, headers, body } = await forward();
      read.push(JSON.parse(`${body}`).Count);
      response.writeHead(status, headers).end(body);
    });
    await page({ limit: '31' });
    await page({ limit: '20' });
    expect(read).toEqual([30, 2, 21]);
    service.proxy.reset();
  });

  it('stays where it is when pets are added before it, and shows those that are added after it', async () => {
    const first = await page({ status: 'pending', limit: '2' });
    const [before, after] = [1, 500].map((id) => ({
      id,
      name: 'late',
      categoryId: 1,
      status: 'pending' as const,
    }));
    for (const Item of [before, after]) {
      await service.dynamodb.send(new PutCommand({ TableName: service.tables.pets, Item }));
    }
    const second = await page(first.next ?? {});
    expect(second.listed).toEqual([
      ...pets.filter((pet) => pet.status === 'pending').slice(2),
      after,
    ]);
  });

  it('is empty when there are no pets, and links nowhere', async () => {
    await service.deletePets();
    expect(await page({})).toEqual({ listed: [], next: undefined });
    expect(await page({ status: 'sold' })).toEqual({ listed: [], next: undefined });
  });
});

describe('a bad query', () => {
  it.each([
    [{ limit: '0' }, 'limit must be an integer from 1 to 100.'],
    [{ limit: '101' }, 'limit must be an integer from 1 to 100.'],
    [{ limit: '007' }, 'limit must be an integer from 1 to 100.'],
    [{ status: 'lost' }, 'status must be one of available, pending, sold.'],
    [{ cursor: 'x' }, 'cursor is not one that this list has given.'],
    [{ offset: '1', page: '2' }, 'offset is not known; page is not known.'],
    [
      { limit: 'x', status: '' },
      'limit must be an integer from 1 to 100; status must be one of available, pending, sold.',
    ],
  ])('%j is refused: %s', async (query, message) => {
    const { status, body } = await invoke(service.listPets, { headers: bearer(apiKey), query });
    expect(status).toBe(400);
    expect(body).toEqual({ code: 'invalid_request', message, status: 400 });
  });

  it('gives a parameter twice', async () => {
    const { body } = await invoke(service.listPets, {
      headers: bearer(apiKey),
      query: { limit: ['1', '1'] },
    });
    expect(body.message).toBe('limit is given twice.');
  });
});

import fc from 'fast-check';
import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { Pet, petStatuses } from '../../lib/contract/pet.ts';
import { encodeCursor } from '../../lib/pets/cursor.ts';
import { captureLog } from '../support/captured-log.ts';
import type { Values } from '../support/events.ts';
import { awsError, type Fault, stalls } from '../support/fault-proxy.ts';
import { type InvokeOptions, startHandlers } from '../support/handlers.ts';
import { inListOrder } from '../support/in-list-order.ts';
import { filterSets, newPetFields } from '../support/new-pets.ts';
import { readPage, walkPages } from '../support/pages.ts';
import { runsOf } from '../support/runs.ts';

/** How many pets of each status there are. */
const sizes = petStatuses.map((_, index) => [30, 3, 20][index] ?? 2);

/** In the order of a list, with every field. */
const pets: readonly Pet[] = petStatuses.flatMap((status, statusIndex) =>
  fc
    .sample(fc.record(newPetFields), { numRuns: sizes[statusIndex] ?? 0, seed: statusIndex })
    .map((fields, number) => ({
      id: 7 + number * petStatuses.length + statusIndex,
      ...fields,
      status,
    })),
);

const service = await startHandlers();
await Promise.all(pets.map((pet) => service.putPet({ ...pet })));

beforeEach(() => service.proxy.reset());

const page = (query: Values, options?: InvokeOptions) => readPage(service.send, query, options);

/** The values of a filter that select pets. */
const valuesOf = (filter: string) => [...new Set(pets.map((pet) => `${Reflect.get(pet, filter)}`))];

/** The pets of a page, with every digit. */
const petsOf = ({ text }: { readonly text: string }) =>
  v.parse(v.array(v.looseObject(Pet.entries)), parseJson(text));

const walk = async (query: Values | undefined): Promise<Pet[][]> =>
  (await walkPages(service.send, query)).map(petsOf);

/** Walks a list; expects each of its pets once, in order, and all pages full but the last. */
const expectEachPetOnce = async (limit: number, status: Pet['status'] | undefined) => {
  const expected = pets.filter((pet) => status === undefined || pet.status === status);
  const pages = await walk({ limit: `${limit}`, status: status ?? [] });
  expect(pages.flat()).toEqual(expected);
  expect(pages).toHaveLength(Math.ceil(expected.length / limit));
  for (const full of pages.slice(0, -1)) expect(full).toHaveLength(limit);
};

/** Limits around the sizes of the lists, so that pages end there. */
const limits = [1, 2, 3, 4, 19, 20, 21, 29, 30, 31, 33, 52, 53, 54, maxLimit];

describe('a list', () => {
  it('shows each pet exactly once, in order, with all pages full but the last', async () => {
    for (const limit of limits) await expectEachPetOnce(limit, undefined);
  });

  describe.each(filterSets.map((filters) => ({ filters })))(
    'filtered by $filters',
    ({ filters }) => {
      /** Every combination of the filters' values. */
      const queries = filters.reduce<Record<string, string>[]>(
        (some, filter) =>
          some.flatMap((query) => valuesOf(filter).map((value) => ({ ...query, [filter]: value }))),
        [{}],
      );

      it('shows exactly the pets with the values, each once', async () => {
        for (const query of queries) {
          const isWanted = (pet: Pet) =>
            filters.every((filter) => `${Reflect.get(pet, filter)}` === query[filter]);
          const shown = (await walk({ ...query, limit: '1' })).flat();
          expect(inListOrder(shown)).toEqual(pets.filter(isWanted));
        }
      });

      it.each(filters)(
        'refuses a cursor of the list with another %s, or with none',
        async (filter) => {
          const pages = await Promise.all(queries.map((query) => page({ ...query, limit: '1' })));
          const next = pages.find((each) => each.next)?.next;
          expect(next).toHaveProperty('cursor');
          const other = valuesOf(filter).find((value) => value !== next?.[filter]) ?? '';
          for (const value of [other, []]) {
            const { status } = await service.send({ query: { ...next, [filter]: value } });
            expect(status).toBe(400);
          }
        },
      );
    },
  );
});

/** Cuts outputs of DynamoDB after their first items and adds a LastEvaluatedKey, as DynamoDB may do. */
const cutOutputs = (itemsOf: () => number, times?: number) => {
  const cut: Fault = async ({ request, response, forward }) => {
    const { status, body } = await forward();
    const output = JSON.parse(`${body}`);
    const count = itemsOf();
    if (count < output.Items.length) {
      const next = output.Items[count];
      output.Items.length = count;
      const start = JSON.parse(`${request}`).ExclusiveStartKey ?? { id: { N: '0' } };
      // Without an item, the end is between the start and the first item that was cut off.
      const between = { N: `${(Number(start.id.N) + Number(next.id.N)) / 2}` };
      const { id, status } = output.Items.at(-1) ?? { id: between, status: next.status };
      output.LastEvaluatedKey = { id, status };
    }
    response.writeHead(status).end(JSON.stringify(output));
  };
  service.proxy.inject('Query Pets', cut, times);
};

/** Expects a page of the first `count` pets, and the others behind its link once nothing is cut. */
const expectEndAfter = async (count: number, ended: Awaited<ReturnType<typeof page>>) => {
  expect(petsOf(ended)).toEqual(pets.slice(0, count));
  service.proxy.reset();
  expect((await walk(ended.next)).flat()).toEqual(pets.slice(count));
};

describe('a list whose queries DynamoDB cuts short', () => {
  it('shows each pet exactly once, in order, with all pages full but the last', async () => {
    const filter = fc.option(fc.constantFrom(...petStatuses), { nil: undefined });
    const limit = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: maxLimit }));
    // The sizes of outputs: some may be empty, and one is not, so that every walk ends.
    const cuts = fc
      .tuple(fc.array(fc.nat(8)), fc.integer({ min: 1, max: 100 }))
      .map((all) => all.flat());
    await fc.assert(
      fc.asyncProperty(limit, filter, cuts, async (pageSize, status, sizes) => {
        let queries = 0;
        service.proxy.reset();
        cutOutputs(() => sizes[queries++ % sizes.length] ?? 0);
        await expectEachPetOnce(pageSize, status);
      }),
      { numRuns: runsOf(25, 200) },
    );
  });

  it('goes on while the queries do, even if 40 have no pet', async () => {
    cutOutputs(() => 0, 40);
    await expectEachPetOnce(maxLimit, undefined);
  });

  it.each([
    ['the query after one without a pet', 0],
    ['the second query of a status', 7],
    ['the query of the next status', 30],
  ])('returns what it found and a link when %s is late', async (_kind, found) => {
    cutOutputs(() => found, 1);
    service.proxy.inject('Query Pets', stalls.hang);
    await expectEndAfter(found, await page({ limit: '40' }, { remainingMs: 1_300 }));
  });
});

describe('a page', () => {
  const oneFilter = filterSets
    .filter(({ length }) => length === 1)
    .flatMap(([filter = '']) => valuesOf(filter).map((value) => ({ [filter]: value })));

  it.each(limits)('of limit %i reads at most one pet more than it holds', async (limit) => {
    let total = 0;
    service.proxy.inject('Query Pets', async ({ response, forward }) => {
      const { status, headers, body } = await forward();
      // On a busy machine, an attempt that was given up does not count.
      response.on('finish', () => {
        total += JSON.parse(`${body}`).ScannedCount;
      });
      response.writeHead(status, headers).end(body);
    });
    for (const query of [{}, ...oneFilter]) {
      total = 0;
      const { length } = petsOf(await page({ ...query, limit: `${limit}` }));
      const reason = `Let an index serve ${JSON.stringify(query)}, instead of a FilterExpression`;
      expect(total, reason).toBeLessThanOrEqual(length + 1);
    }
  });

  it('keeps its place when pets are added before it, and shows those added after it', async () => {
    const status = petStatuses[1];
    const first = await page({ status, limit: '2' });
    const late = { name: 'late', categoryId: 1, status };
    await service.putPet({ ...late, id: 1 });
    await service.putPet({ ...late, id: 500 });
    const last = pets.findLast((pet) => pet.status === status);
    expect(petsOf(await page(first.next ?? {}))).toEqual([last, { ...late, id: 500 }]);
  });

  it('is refused with 400 when DynamoDB refuses the position of a forged cursor', async () => {
    const cursor = encodeCursor({ status: 'sold', id: 'Rex' }, {});
    const { status, body } = await service.send({ query: { cursor } });
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: expect.stringMatching(/^cursor is not one/),
    });
  });

  it('gets 500 when DynamoDB refuses a later query, which no client caused', async () => {
    captureLog();
    const { next } = await page({ limit: '3' });
    cutOutputs(() => 1, 1);
    service.proxy.inject(
      'Query Pets',
      awsError(400, 'com.amazon.coral.validate#ValidationException'),
    );
    expect((await service.send({ query: next ?? {} })).status).toBe(500);
  });

  it('passes a run of corrupt items quickly', async () => {
    const ids = Array.from({ length: 60 }, (_, at) => 1_000 + at);
    await Promise.all(ids.map((id) => service.putPet({ id, status: 'sold', name: 5 })));
    const cursor = encodeCursor({ status: 'sold', id: '999' }, {});
    expect(await page({ cursor, limit: '1' })).toMatchObject({ body: [], next: undefined });
    expect(service.proxy.completed.length).toBeLessThan(6);
  });
});

import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { NumberValue } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { petStatuses } from '../../lib/contract/pet.ts';
import { captureLog, readLines } from '../support/log-lines.ts';
import { walkPages } from '../support/pages.ts';
import { runsOf } from '../support/runs.ts';
import { startHandlers } from '../support/start-handlers.ts';

const service = await startHandlers();
const client = new DynamoDBClient({ endpoint: service.proxyEndpoint });

const digits = (minLength: number, maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength, maxLength }).map((all) => all.join(''));

/**
 * Any number that DynamoDB stores: 38 digits, from -9.99e125 to 9.99e125, and from 1e-130 to 0 and beyond.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number
 */
const anyNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.integer({ min: 1, max: 9 }),
    digits(0, 37),
    fc.integer({ min: -130, max: 125 }),
  )
  .map(([sign, first, others, exponent]) => `${sign}${first}.${others}0E${exponent}`);

/** Numbers close to the ids of pets, where rounding would skip or repeat a pet. */
const nearAnId = fc
  .tuple(fc.constantFrom(0, 1, 2, 3, 2 ** 53 - 2, 2 ** 53 - 1), digits(0, 22))
  .map(([integer, fraction]) => `${integer}.${fraction}0`);
const bulkImported = fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }).map(String);
const petId = fc
  .oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }))
  .map(String);

const ids = fc.array(
  fc.tuple(fc.oneof(petId, nearAnId, anyNumber, bulkImported), fc.constantFrom(...petStatuses)),
  { maxLength: 40 },
);

/** The stored ids in DynamoDB's own digits, by status. */
const storedIds = async () => {
  const stored: { id: string; status: string }[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: service.tables.pets }))
    for (const { id, status } of Items) stored.push({ id: `${id?.N}`, status: `${status?.S}` });
  return stored;
};

const isPetId = (id: string) => /^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id));

const deleteAll = async () => {
  for (const { id } of await storedIds())
    await service.dynamodb.delete({
      TableName: service.tables.pets,
      Key: { id: NumberValue.from(id) },
    });
};

const put = (id: string, status: string) =>
  service.putPet({ id: NumberValue.from(id), name: 'Rex', categoryId: 1, status });

/**
 * Walks all lists with several limits. Expects each pet once, in order, and the ids of
 * all other items in the log.
 */
const expectEachPetOnce = async () => {
  const stored = await storedIds();
  const lines = captureLog();
  for (const limit of [1, 2, 5, maxLimit]) {
    for (const filter of [undefined, ...petStatuses]) {
      const expected = petStatuses
        .filter((status) => status === (filter ?? status))
        .flatMap((status) =>
          stored
            .filter((item) => item.status === status && isPetId(item.id))
            .map(({ id }) => Number(id))
            .sort((left, right) => left - right),
        );
      const pages = await walkPages(service.send, { limit: `${limit}`, status: filter ?? [] });
      expect(pages.flatMap(({ body }) => body.map((pet: { id: number }) => pet.id))).toEqual(
        expected,
      );
    }
  }
  const corrupt = stored.filter(({ id }) => !isPetId(id)).map(({ id }) => id);
  const named = readLines(lines).flatMap(({ corruptItems = [] }) => corruptItems);
  expect(new Set(named)).toEqual(new Set(corrupt));
};

describe('a list', () => {
  it.each([
    ['a 19-digit id', ['1', '2', '3', '1234567890123456789']],
    ['many 19-digit ids', Array.from({ length: 60 }, (_, at) => `${2n ** 62n + BigInt(at)}`)],
    ['a fraction', ['11', '11.2345678901234567890123', '12']],
    [
      'two ids that differ at the 17th decimal',
      ['11.20000000000000001', '11.20000000000000002', '12'],
    ],
    ['a fraction that rounds to an id', ['11', '11.99999999999999999999', '12', '13']],
    ['a 16-digit id above the largest pet', [`${2 ** 53 - 1}`, `${2 ** 53}`]],
    ['the id 0', ['0', '1', '2']],
    ['a very small number', ['1', '1e-100']],
    ['many negative numbers', ['1', ...Array.from({ length: 60 }, (_, at) => `-${at}.5`)]],
  ])('shows every other pet once when there is %s', async (_kind, all) => {
    await deleteAll();
    for (const id of all) await put(id, 'available');
    await put('20', 'sold');
    await expectEachPetOnce();
  });

  it('shows every pet once, and the log names the other items, whatever number is an id', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(ids, async (all) => {
        await deleteAll();
        await Promise.all(all.map(([id, status]) => put(id, status)));
        await expectEachPetOnce();
      }),
      { numRuns: runsOf(15, 500) },
    );
  });
});

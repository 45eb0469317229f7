import { randomBytes, randomInt } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { risingKey, simulateSplits, spreadKey } from '../bench/split-for-heat.ts';
import { bearer, createRequest, getRequest, invoke, startHandlers } from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

/** What DynamoDB was asked for: operation and table, and RCU of a read or WCU of a write, its indexes included. */
const paid: [call: string, units: number | undefined][] = [];
let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;
let petId: number;

beforeAll(async () => {
  service = await startHandlers();
  service.proxy.inject('*', async ({ request, response, call, forward }) => {
    const input = { ...JSON.parse(request.toString()), ReturnConsumedCapacity: 'TOTAL' };
    const { status, headers, body } = await forward(JSON.stringify(input));
    paid.push([call, Output.parse(JSON.parse(body.toString())).ConsumedCapacity?.CapacityUnits]);
    response.writeHead(status, headers).end(body);
  });
  for (let batch = 0; batch < 6; batch += 1) await addPets();
  apiKey = await service.issueApiKey();
  ({ id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body);
});

const Output = z.object({
  ConsumedCapacity: z.optional(z.object({ CapacityUnits: z.number() })),
});

/** Adds 25 pets as createPet stores them, of 90 bytes in the index. */
const addPets = () => {
  const puts = Array.from({ length: 25 }, () => ({
    PutRequest: {
      Item: {
        id: randomInt(1, 2 ** 48 - 1),
        name: 'A pet with a name of forty-eight characters, yes',
        categoryId: 1,
        status: 'available',
        creation: randomBytes(32),
        fingerprint: randomBytes(32),
      },
    },
  }));
  const RequestItems = { [service.tables.pets]: puts };
  return service.dynamodb.send(new BatchWriteCommand({ RequestItems }));
};

/** What a request costs, by operation of DynamoDB and capacity units. */
const costOf = async (run: () => Promise<{ status: number }>) => {
  paid.length = 0;
  expect((await run()).status).toBeLessThan(300);
  return [...paid];
};

const list = (query: EventParts['query'] = {}) =>
  invoke(service.listPets, { headers: bearer(apiKey), query });

describe('in DynamoDB', () => {
  it('getPet costs one request and 0.5 RCU', async () => {
    const cost = await costOf(() => invoke(service.getPet, getRequest(apiKey, petId)));
    expect(cost).toEqual([['GetItem Pets', 0.5]]);
  });

  it('createPet costs one request and 2 WCU, the index included', async () => {
    const cost = await costOf(() => invoke(service.createPet, createRequest(apiKey)));
    expect(cost).toEqual([['PutItem Pets', 2]]);
  });

  it.each([
    ['20 pets', {}, 0.5],
    ['20 pets of a status', { status: 'available' }, 0.5],
    ['100 pets', { limit: '100' }, 1.5],
    ['100 pets of a status', { limit: '100', status: 'available' }, 1.5],
  ])('a page of %s costs one request and no more than its bytes', async (_page, query, units) => {
    expect(await costOf(() => list(query))).toEqual([['Query Pets', units]]);
  });

  it('an API key costs 0.5 RCU when it is first seen', async () => {
    const other = await service.issueApiKey();
    const cost = await costOf(() => invoke(service.getPet, getRequest(other, petId)));
    expect(cost).toEqual([
      ['GetItem Keys', 0.5],
      ['GetItem Pets', 0.5],
    ]);
  });
});

describe('the index, as a simulation of DynamoDB splits its partitions', () => {
  it('takes twice the writes after each split when ids are spread', () => {
    const writes = simulateSplits(spreadKey, 5).map(({ writesPerSecond }) => writesPerSecond);
    expect(writes).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  });

  it('takes no more writes after any split when ids rise', () => {
    const writes = simulateSplits(risingKey, 5).map(({ writesPerSecond }) => writesPerSecond);
    expect(new Set(writes)).toEqual(new Set([1_000]));
  });
});

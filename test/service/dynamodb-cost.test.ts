import { describe, expect, it } from 'vitest';
import { candidateId, creationOf } from '../../lib/pets/creation.ts';
import { addPets, recordCapacity } from '../bench/cost.ts';
import { bearer, createRequest, getRequest, invoke, startHandlers } from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

const service = await startHandlers();
const paid = recordCapacity(service.proxy);
await addPets(service.dynamodb, service.tables.pets, 150);
const apiKey = await service.issueApiKey();
const { id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body;

/** What a request costs, by operation of DynamoDB and capacity units. */
const costOf = async (run: () => Promise<{ status: number }>) => {
  paid.length = 0;
  expect((await run()).status).toBeLessThan(300);
  return paid.map(({ call, units }) => [call, units]);
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

// https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/
describe('the id of a creation', () => {
  it('is spread evenly over all ids, so that each split of the index halves its writes', () => {
    const sixteenths = Array.from({ length: 16_000 }, () => {
      const creation = creationOf({ owner: 'test', key: undefined });
      return Math.floor(candidateId(creation, 0) / 2 ** 49);
    });
    for (let part = 0; part < 16; part += 1) {
      expect(sixteenths.filter((each) => each === part).length).toBeGreaterThan(800);
    }
  });
});

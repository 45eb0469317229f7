import { randomBytes, randomInt } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { candidateId, creationOf } from '../../lib/pets/creation.ts';
import {
  bearer,
  createRequest,
  getRequest,
  type HandlerName,
  invoke,
  startHandlers,
} from '../support/handlers.ts';
import type { EventParts } from '../support/proxy-event.ts';

const service = await startHandlers();

/** Every call of DynamoDB, with its RCU or WCU, indexes included. */
const paid: [call: string, units: number | undefined][] = [];
service.proxy.inject('*', async ({ request, response, call, forward }) => {
  const input = { ...JSON.parse(request.toString()), ReturnConsumedCapacity: 'TOTAL' };
  const { status, headers, body } = await forward(JSON.stringify(input));
  paid.push([call, Output.parse(JSON.parse(body.toString())).ConsumedCapacity?.CapacityUnits]);
  response.writeHead(status, headers).end(body);
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

for (let batch = 0; batch < 6; batch += 1) await addPets();
const apiKey = await service.issueApiKey();
const { id: petId } = (await invoke(service.createPet, createRequest(apiKey))).body;

/** What a request costs, by operation of DynamoDB and capacity units. */
const costOf = async (run: () => Promise<{ status: number }>) => {
  paid.length = 0;
  expect((await run()).status).toBeLessThan(300);
  return [...paid];
};

const list = (query: EventParts['query'] = {}): EventParts => ({ headers: bearer(apiKey), query });

describe('in DynamoDB', () => {
  it.each<[what: string, call: string, units: number, HandlerName, EventParts]>([
    ['a pet', 'GetItem Pets', 0.5, 'getPet', getRequest(apiKey, petId)],
    ['a creation', 'PutItem Pets', 2, 'createPet', createRequest(apiKey)],
    ['20 pets', 'Query Pets', 0.5, 'listPets', list()],
    ['20 pets of a status', 'Query Pets', 0.5, 'listPets', list({ status: 'available' })],
    ['100 pets', 'Query Pets', 1.5, 'listPets', list({ limit: '100' })],
    ['100 of a status', 'Query Pets', 1.5, 'listPets', list({ limit: '100', status: 'available' })],
  ])('%s costs one %s of %d units', async (_what, call, units, name, parts) => {
    expect(await costOf(() => invoke(service[name], parts))).toEqual([[call, units]]);
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

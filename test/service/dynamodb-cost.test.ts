import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import { maxLimit } from '../../lib/contract/list-pets-query.ts';
import { operations } from '../../lib/operations/operations.ts';
import { bearer, creation, exampleCallsOf, exampleOf } from '../support/events.ts';
import { startHandlers } from '../support/handlers.ts';

const service = await startHandlers();
const petBytes = 194;
const pet = { name: 'x'.repeat(60), categoryId: 2n ** 63n - 1n, status: 'available' };
for (let added = 0; added <= maxLimit; added += 25) {
  await Promise.all(Array.from({ length: 25 }, () => service.send(creation(pet))));
}

/** Every call of DynamoDB, with its RCU or WCU, indexes included. */
const paid: [call: string, units: number][] = [];
/** The reads of an item that may miss a change of the last second. */
const inconsistentReads: string[] = [];
const Output = v.object({ ConsumedCapacity: v.object({ CapacityUnits: v.number() }) });

service.proxy.inject('*', async ({ request, response, call, forward }) => {
  const input = { ...JSON.parse(request.toString()), ReturnConsumedCapacity: 'TOTAL' };
  if (call.startsWith('GetItem') && !input.ConsistentRead) inconsistentReads.push(call);
  const { status, headers, body } = await forward(JSON.stringify(input));
  paid.push([call, v.parse(Output, JSON.parse(body.toString())).ConsumedCapacity.CapacityUnits]);
  response.writeHead(status, headers).end(body);
});

beforeEach(() => {
  paid.length = 0;
  inconsistentReads.length = 0;
});

describe('in DynamoDB', () => {
  it.each(operations)('$name costs what its file in lib/operations/ says', async (operation) => {
    const { request, items } = exampleOf(operation, 1);
    await service.putItems(items);
    const headers = bearer(await service.issueApiKey());
    const { status } = await service.send({ ...request, headers });
    expect(status).toBe(operation.successStatus);
    const calls = exampleCallsOf(operation).map(({ call, units }) => [call, units]);
    expect(paid, 'Correct `units` of its `calls`').toEqual([['GetItem Keys', 0.5], ...calls]);
    const reason = 'Read an item with `consistent: true`, so that it is found once it is added';
    expect(inconsistentReads, reason).toEqual(['GetItem Keys']);
  });

  it.each([{}, { status: 'available' }])(
    'the largest page of a list with %j costs one query, and 0.5 RCU for each 4 KB',
    async (filter) => {
      const { status } = await service.send({ query: { limit: `${maxLimit}`, ...filter } });
      expect(status).toBe(200);
      expect(paid).toEqual([['Query Pets', Math.ceil((maxLimit * petBytes) / 4_096) / 2]]);
    },
  );
});

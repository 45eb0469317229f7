import { randomBytes, randomInt } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { startLocalService } from '../../infra/local/local-service.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { type ClientRequest, sendTo } from '../support/http-client.ts';

/** What one request of a client costs in DynamoDB. */
export interface Cost {
  readonly operation: CostedOperation;
  /** Pets in the catalogue. */
  readonly pets: number;
  readonly requests: number;
  readonly roundTrips: number;
  /** RCU of a read, WCU of a write. */
  readonly units: number;
}

/** A name that makes a pet 90 bytes long in the index. */
const name = 'A pet with a name of forty-eight characters, yes';

const post = {
  method: 'POST',
  path: '/pets',
  body: JSON.stringify({ name, categoryId: 1 }),
} as const;
const operations = [
  ['getPet', (petId: number): ClientRequest => ({ path: `/pets/${petId}` })],
  ['createPet', () => post],
  ['listPets, 20 pets', () => ({ path: '/pets' })],
  ['listPets, 20 pets of a status', () => ({ path: '/pets?status=available' })],
  ['listPets, 100 pets', () => ({ path: '/pets?limit=100' })],
  ['listPets, 100 pets of a status', () => ({ path: '/pets?limit=100&status=available' })],
] as const;
export type CostedOperation = (typeof operations)[number][0];

/** Asks the service that runs on this machine for everything at each size of the catalogue, and DynamoDB Local for the bill. */
export const measureCosts = async (sizes: readonly number[]): Promise<readonly Cost[]> => {
  await using resources = new AsyncDisposableStack();
  const dynamodb = await startDynamodbLocal();
  resources.defer(dynamodb.stop);
  const proxy = new FaultProxy(dynamodb.endpoint);
  resources.defer(() => proxy.refuseConnections());
  const requests = recordCapacity(proxy);
  const service = await startLocalService({
    dynamodbEndpoint: dynamodb.endpoint,
    functionsDynamodbEndpoint: await proxy.listen(),
  });
  resources.defer(service.stop);
  const client = new DynamoDBClient(localClientConfig(dynamodb.endpoint));
  resources.defer(async () => client.destroy());

  const costs: Cost[] = [];
  let pets = 0;
  for (const size of sizes) {
    const tableName = service.tables['PETS_TABLE']?.TableName ?? '';
    await addPets(DynamoDBDocumentClient.from(client), tableName, size - pets);
    pets = size;
    const { id } = JSON.parse((await send(service, post)).text);
    for (const [operation, requestFor] of operations) {
      // Once before, so that the function knows the API key.
      await send(service, requestFor(id));
      requests.length = 0;
      await send(service, requestFor(id));
      costs.push({
        operation,
        pets: size,
        requests: requests.length,
        roundTrips: requests.filter(({ isRoundTrip }) => isRoundTrip).length,
        units: requests.reduce((sum, { units }) => sum + units, 0),
      });
    }
  }
  return costs;
};

const send = async (
  { baseAddress, apiKey }: { readonly baseAddress: string; readonly apiKey: string },
  request: ClientRequest,
) => {
  const headers = [
    ['Authorization', `Bearer ${apiKey}`],
    ['Content-Type', 'application/json'],
  ] as const;
  const response = await sendTo(baseAddress, { ...request, headers });
  if (response.status >= 300)
    throw new Error(`${request.path} is answered with ${response.status}`);
  return response;
};

/** A request to DynamoDB as it is billed. */
export interface PaidRequest {
  /** Operation and table, such as `Query Pets`. */
  readonly call: string;
  /** RCU of a read, WCU of a write, its indexes included. */
  readonly units: number;
  /** Whether it began while no other was on its way. */
  readonly isRoundTrip: boolean;
}

const Output = z.object({
  ConsumedCapacity: z.optional(z.object({ CapacityUnits: z.number() })),
});

/** Makes DynamoDB report what each request through the proxy consumes; the list grows with every request. */
export const recordCapacity = (proxy: FaultProxy): PaidRequest[] => {
  const paid: PaidRequest[] = [];
  let underWay = 0;
  proxy.inject('*', async ({ request, response, call, forward }) => {
    const isRoundTrip = underWay === 0;
    underWay += 1;
    const input = { ...JSON.parse(request.toString()), ReturnConsumedCapacity: 'TOTAL' };
    const output = await forward(JSON.stringify(input)).finally(() => {
      underWay -= 1;
    });
    const { ConsumedCapacity } = Output.parse(JSON.parse(output.body.toString()));
    paid.push({ call, units: ConsumedCapacity?.CapacityUnits ?? 0, isRoundTrip });
    response.writeHead(output.status, output.headers).end(output.body);
  });
  return paid;
};

/** Adds pets of 90 bytes as createPet stores them, 25 at a time. */
export const addPets = async (
  dynamodb: DynamoDBDocumentClient,
  tableName: string,
  count: number,
) => {
  for (let added = 0; added < count; added += 25) {
    const puts = Array.from({ length: Math.min(25, count - added) }, () => ({
      PutRequest: {
        Item: {
          id: randomInt(1, 2 ** 48 - 1),
          name,
          categoryId: 1,
          status: 'available',
          creation: randomBytes(32),
          fingerprint: randomBytes(32),
        },
      },
    }));
    await dynamodb.send(new BatchWriteCommand({ RequestItems: { [tableName]: puts } }));
  }
};

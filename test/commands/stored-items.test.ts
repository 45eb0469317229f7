import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { localClientConfig, localCredentials } from '../../infra/local/local-account.ts';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { startAwsEndpoint, xml } from '../support/aws-endpoint.ts';
import { conditionFailed, type Fault, FaultProxy, faults, passOn } from '../support/fault-proxy.ts';
import { shared } from '../support/shared.ts';
import { createTestTables } from '../support/test-tables.ts';

const local = shared('dynamodb');
const { dynamodb, tables, putPet, storedPets, deletePets, storeApiKey } =
  await createTestTables(local);
/** The empty copies of the tables that each test begins with. */
let copies: { pets: string; keys: string };
let second = 0;
const createCopies = async () => {
  const time = `20260131T0300${`${second++}`.padStart(2, '0')}Z`;
  copies = { pets: `${tables.pets}-${time}`, keys: `${tables.keys}-${time}` };
  const { PETS_TABLE: pets, KEYS_TABLE: keys } = local.tables;
  if (!pets || !keys) throw new Error('A table has no definition');
  await createTables(new DynamoDBClient(localClientConfig(local.dynamodbEndpoint)), [
    { ...pets, TableName: copies.pets },
    { ...keys, TableName: copies.keys },
  ]);
};

const aws = await startAwsEndpoint();
afterAll(() => aws.stop());

const Outputs = [
  { OutputKey: 'PetsTableName', OutputValue: tables.pets },
  { OutputKey: 'KeysTableName', OutputValue: tables.keys },
];
let proxy: FaultProxy;
beforeEach(async () => {
  aws.responses = {
    GetCallerIdentity: xml('GetCallerIdentity', { Account: '123456789012' }),
    DescribeStacks: xml('DescribeStacks', {
      Stacks: [{ StackStatus: 'UPDATE_COMPLETE', Outputs }],
    }),
    ListStackResources: xml('ListStackResources', {}),
  };
  proxy = new FaultProxy(local.dynamodbEndpoint);
  onTestFinished(() => proxy.refuseConnections());
  const variables = {
    ...aws.variables,
    AWS_ENDPOINT_URL_DYNAMODB: await proxy.listen(),
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  await deletePets();
  await createCopies();
});

/** Runs `copy-back` on staging, and types an answer. Returns what it printed, and the error that ended it. */
const copyBack = async (kind: 'pets' | 'keys', copy = copies[kind], answer = 'staging') => {
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(line));
  const program = operateProgram(async () => answer);
  const error = await program
    .parseAsync(['copy-back', kind, copy, '--stage', 'staging'], { from: 'user' })
    .then(
      () => undefined,
      (thrown: Error) => thrown.message,
    );
  return { text: printed.join('\n'), error };
};

const hash = new Uint8Array(32);
const pet = (id: number, fields: object = {}) => ({
  ...{ id, name: 'Rex', categoryId: 1, status: 'sold', creation: hash, fingerprint: hash },
  ...fields,
});
const putIntoCopy = (Item: Record<string, unknown>) =>
  dynamodb.put({ TableName: copies.pets, Item });
const petsById = async () => new Map((await storedPets()).map((item) => [item['id'], item]));

it('writes missing and different pets of a copy back, and lets all others stay', async () => {
  const great = 2n ** 63n - 1n;
  for (let id = 1; id <= 20; id += 1) {
    await putIntoCopy(pet(id, { categoryId: great }));
    if (id > 1) await putPet(pet(id, { categoryId: id === 2 ? great - 1n : great }));
  }
  await putPet(pet(3, { categoryId: great, name: 'wrong', status: 'available' }));
  await putIntoCopy({ id: 900, name: 'unreadable' });
  await putPet(pet(901, { name: 'added since' }));

  const declined = await copyBack('pets', copies.pets, 'no');
  expect(declined.error).toMatch(/Nothing was changed/);
  expect((await petsById()).has(1)).toBe(false);

  const { text, error } = await copyBack('pets');
  expect(error).toBeUndefined();
  expect(text).toMatch(/The copy has about 21 pets/);
  expect(text).toMatch(/deleted on purpose since, .*corrections made since/);
  expect(text).toMatch(/Missing in the table: 1\n.*id 1, /);
  expect(text).toMatch(/Different in the table: 2\n/);
  expect(text).toContain(`id 2: categoryId ${great - 1n}, in the copy ${great}`);
  expect(text).toContain('name "wrong", in the copy "Rex"');
  expect(text).toContain('The same in the table: 17');
  expect(text).toMatch(/could not read them: 1\n.*id 900/);
  const expected = new Map(
    Array.from({ length: 20 }, (_none, at) => [at + 1, expect.objectContaining({ name: 'Rex' })]),
  );
  const stored = await petsById();
  expect(stored).toEqual(expected.set(901, expect.objectContaining({ name: 'added since' })));

  const again = await copyBack('pets');
  expect(again).toMatchObject({ error: undefined });
  expect(again.text).toMatch(/There is nothing to change$/);
});

/** A BatchGetItem of which DynamoDB reads nothing for lack of throughput. */
const unprocessed: Fault = ({ request, response }) => {
  const { RequestItems: UnprocessedKeys } = JSON.parse(request.toString());
  response.writeHead(200).end(JSON.stringify({ Responses: {}, UnprocessedKeys }));
};

it('goes on after throttles, and after an error that ended it', async () => {
  for (let id = 1; id <= 20; id += 1) await putIntoCopy(pet(id));
  proxy.inject('BatchGetItem undefined', unprocessed, 2);
  proxy.inject('PutItem Pets', faults.throttled, 2);
  proxy.inject('PutItem Pets', passOn, 5);
  proxy.inject('PutItem Pets', faults.accessDenied);
  const { text, error } = await copyBack('pets');
  expect(text).toContain('Missing in the table: 20');
  expect(error).toMatch(/^Step 1 failed/);
  const written = (await storedPets()).length;
  expect(written).toBeGreaterThanOrEqual(5);
  expect(written).toBeLessThan(20);
  proxy.reset();
  expect((await copyBack('pets')).error).toBeUndefined();
  expect(await storedPets()).toHaveLength(20);
});

it('lets a pet stay that was added after the comparison, and says so', async () => {
  await putIntoCopy(pet(1));
  proxy.inject('PutItem Pets', conditionFailed, 1);
  const { text, error } = await copyBack('pets');
  expect(error).toBeUndefined();
  expect(text).toMatch(/Wrote 0 pets\nLeft 1 pets/);
});

it('lets each API key of the table stay, so that none that was revoked is valid again', async () => {
  const [revoked, missing] = [generateApiKey('pets_test'), generateApiKey('pets_test')];
  await storeApiKey(revoked, { revokedAt: '2026-02-01T00:00:00Z' });
  for (const apiKey of [revoked, missing]) {
    const { keyId = '', hash: hashed } = identifyApiKey(apiKey, 'pets_test') ?? {};
    const record = {
      keyId,
      hash: hashed,
      owner: 'test',
      lastFour: 'abcd',
      createdAt: '2026-01-01',
    };
    await dynamodb.put({ TableName: copies.keys, Item: record });
  }
  const { text, error } = await copyBack('keys');
  expect(error).toBeUndefined();
  expect(text).toMatch(/Different in the table, and stay so: 1\n/);
  expect(text).toMatch(/revoked, or that a rotation ended, since then are valid again/);
  const { Items = [] } = await dynamodb.scan({ TableName: tables.keys });
  const revokedAt = (apiKey: string) =>
    Items.find(({ keyId }) => keyId === identifyApiKey(apiKey, 'pets_test')?.keyId)?.['revokedAt'];
  expect(Items).toHaveLength(2);
  expect(revokedAt(revoked)).toBe('2026-02-01T00:00:00Z');
  expect(revokedAt(missing)).toBeUndefined();
});

it('refuses a table that is no copy', async () => {
  expect((await copyBack('keys', copies.pets)).error).toMatch(/is no copy of Keys/);
  expect((await copyBack('pets', `${tables.pets}-lost`)).error).toMatch(
    /-lost is gone: make a copy/,
  );
});

import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { localClientConfig, localCredentials } from '../../infra/local/local-account.ts';
import { maximumUnitsOf } from '../../infra/settings/maximum-units.ts';
import { staging } from '../../infra/settings/stages.ts';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { caller, stackIn, startAwsEndpoint } from '../support/aws-endpoint.ts';
import { delayed, type Fault, FaultProxy, faults, passOnAfter } from '../support/fault-proxy.ts';
import { runCommand } from '../support/run-command.ts';
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

let proxy: FaultProxy;
beforeEach(async () => {
  aws.responses = {
    ...caller('123456789012'),
    DescribeStacks: stackIn('UPDATE_COMPLETE', {
      PetsTableName: tables.pets,
      KeysTableName: tables.keys,
    }),
  };
  proxy = new FaultProxy(local.dynamodbEndpoint);
  onTestFinished(() => proxy.refuseConnections());
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', await proxy.listen());
  vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
  await deletePets();
  await createCopies();
});

/** Runs a command on staging, and types an answer. Returns what it printed, and the error that ended it. */
const operate = async (words: readonly string[], answer = 'staging') => {
  const program = operateProgram(async () => answer);
  const { out, error } = await runCommand(program, [...words, '--stage', 'staging']);
  return { text: out.trimEnd(), error };
};
const copyBack = (kind: 'pets' | 'keys', copy = copies[kind], answer = 'staging') =>
  operate(['copy-back', kind, copy], answer);

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
  await putIntoCopy({ name: 'unreadable', id: 900 });
  await putPet({ name: 'unreadable', id: 900 });
  await putPet(pet(901, { name: 'added since' }));

  const declined = await copyBack('pets', copies.pets, 'no');
  expect(declined.error).toMatch(/Nothing was changed/);
  expect((await petsById()).has(1)).toBe(false);

  const { text, error } = await copyBack('pets');
  expect(error).toBe('');
  expect(text).toMatch(/The copy has about 21 pets/);
  expect(text).toMatch(/deleted on purpose since, .*corrections made since/);
  expect(text).toMatch(/Missing in the table: 1\n.*id 1, /);
  expect(text).toMatch(/Different in the table: 2\n/);
  expect(text).toContain(`id 2: categoryId ${great - 1n}, in the copy ${great}`);
  expect(text).toContain('name "wrong", in the copy "Rex"');
  expect(text).toContain('The same in the table: 17');
  expect(text).toMatch(/could not read them: 1\n {2}id 900, name "unreadable"$/m);
  const expected = new Map(
    Array.from({ length: 20 }, (_none, at) => [at + 1, expect.objectContaining({ name: 'Rex' })]),
  );
  const stored = await petsById();
  expected.set(900, { id: 900, name: 'unreadable' });
  expect(stored).toEqual(expected.set(901, expect.objectContaining({ name: 'added since' })));

  const again = await copyBack('pets');
  expect(again).toMatchObject({ error: '' });
  expect(again.text).toMatch(/There is nothing to change$/);
});

it('shows the fields of a pet in one order, the id first', async () => {
  for (const [id, entries] of [
    Object.entries(pet(1)),
    Object.entries(pet(1)).toReversed(),
  ].entries())
    await putIntoCopy({ ...Object.fromEntries(entries), id });
  const { text } = await copyBack('pets', copies.pets, 'no');
  expect(
    text.match(/^ {2}id \d, categoryId 1, creation .*, fingerprint .*, name .*, status/gm),
  ).toHaveLength(2);
});

it('writes back a pet that clients can read, though it lacks what tells a replay', async () => {
  const { creation: _creation, fingerprint: _fingerprint, ...readable } = pet(1);
  await putIntoCopy(readable);
  expect((await copyBack('pets')).error).toBe('');
  expect(await storedPets()).toEqual([readable]);
});

/** A BatchGetItem of which DynamoDB reads nothing for lack of throughput. */
const unprocessed: Fault = ({ request, response }) => {
  const { RequestItems: UnprocessedKeys } = JSON.parse(request.toString());
  response.writeHead(200).end(JSON.stringify({ Responses: {}, UnprocessedKeys }));
};
const batchCall = 'BatchGetItem undefined';

it('asks again for what DynamoDB did not read, less often each time, and gives up after a minute', async () => {
  await putIntoCopy(pet(1));
  await putPet(pet(1));
  proxy.inject(batchCall, unprocessed, 2);
  const start = Date.now();
  const { text } = await copyBack('pets');
  expect(text).toContain('The same in the table: 1');
  expect(Date.now() - start).toBeGreaterThanOrEqual(700);
  expect(proxy.requests.filter((call) => call === batchCall)).toHaveLength(3);

  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'] });
  proxy.inject(batchCall, (exchange) => {
    vi.setSystemTime(Date.now() + 31_000);
    return unprocessed(exchange);
  });
  expect((await copyBack('pets')).error).toMatch(/throttles .* for 1m: run .* again/);
});

it('takes at most half of the units of the table', async () => {
  await putIntoCopy(pet(1));
  const { read, write } = maximumUnitsOf(staging, 'PetsTable');
  const times: number[] = [];
  /** Lets DynamoDB say that a call took as many units as the table has in an eighth of a second. */
  const costing =
    (unitsPerSecond: number, capacity: (consumed: object) => unknown): Fault =>
    async ({ response, forward }) => {
      times.push(Date.now());
      const { status, body } = await forward();
      const ConsumedCapacity = capacity({ CapacityUnits: unitsPerSecond / 8 });
      const text = JSON.stringify({ ...JSON.parse(body.toString()), ConsumedCapacity });
      response.writeHead(status).end(text);
    };
  proxy.inject(
    batchCall,
    costing(read, (consumed) => [consumed]),
  );
  proxy.inject(
    'PutItem Pets',
    costing(write, (consumed) => consumed),
  );
  expect((await copyBack('pets')).error).toBe('');
  const [, secondRead = 0, put = 0] = times;
  expect(put - secondRead).toBeGreaterThanOrEqual(245);
  expect(Date.now() - put).toBeGreaterThanOrEqual(245);
});

it('sees what was written just before: it reads consistently', async () => {
  await putIntoCopy(pet(1));
  const reads: object[] = [];
  const note = passOnAfter(({ request }) => {
    const { ConsistentRead, RequestItems } = JSON.parse(request.toString());
    reads.push({ ConsistentRead: ConsistentRead ?? RequestItems[tables.pets].ConsistentRead });
  });
  for (const call of ['Scan Pets', batchCall]) proxy.inject(call, note);
  await copyBack('pets', copies.pets, 'no');
  expect(reads.length).toBeGreaterThan(1);
  for (const each of reads) expect(each).toEqual({ ConsistentRead: true });
});

it('stops all writes when one fails, and goes on when it is run again', async () => {
  for (let id = 1; id <= 32; id += 1) await putIntoCopy(pet(id));
  proxy.inject('PutItem Pets', faults.accessDenied, 1);
  proxy.inject('PutItem Pets', delayed(100));
  expect((await copyBack('pets')).error).toMatch(/^Step 1 failed/);
  const writes = () => proxy.requests.filter((call) => call === 'PutItem Pets').length;
  const written = writes();
  // Each of the 8 segments has at most one request at a time.
  expect(written).toBeLessThanOrEqual(8);
  await pause(300);
  expect(writes()).toBe(written);
  proxy.reset();
  expect((await copyBack('pets')).error).toBe('');
  expect(await storedPets()).toHaveLength(32);
});

it('lets a pet stay that a client adds after the comparison, and says so', async () => {
  await putIntoCopy(pet(1));
  const added = pet(1, { name: 'added meanwhile' });
  const add = () => putPet(added);
  proxy.inject('PutItem Pets', passOnAfter(add));
  const { text, error } = await copyBack('pets');
  expect(error).toBe('');
  expect(text).toMatch(/Wrote 0 pets\nLeft 1 pets/);
  expect(await storedPets()).toEqual([added]);
});

it('counts a pet as written when only the response was lost', async () => {
  await putIntoCopy(pet(1));
  proxy.inject('PutItem Pets', faults.resetAfterForwarding, 1);
  expect((await copyBack('pets')).text).toMatch(/Wrote 1 pets$/m);
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
  expect(error).toBe('');
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

const { name: _name, ...nameless } = pet(7);

it('removes a corrupt pet, also when the response is lost, and none that clients can read', async () => {
  await putPet(nameless);
  proxy.inject('DeleteItem Pets', faults.resetAfterForwarding, 1);
  const { text, error } = await operate(['remove-item', 'pets', '7']);
  expect(error).toBe('');
  expect(text).toContain('the item with id 7, categoryId 1');
  expect(await storedPets()).toEqual([]);
  expect((await operate(['remove-item', 'pets', '7'])).error).toMatch(/no item 7/);

  const { creation: _creation, fingerprint: _fingerprint, ...readable } = pet(7);
  await putPet(readable);
  expect((await operate(['remove-item', 'pets', '7'])).error).toMatch(/7 is not corrupt/);
  expect(await storedPets()).toEqual([readable]);
});

it.each([
  ['repaired', pet(7)],
  ['given another field', { ...nameless, status: 'available' }],
])('does not remove a pet that was %s after it was shown', async (_what, changed) => {
  await putPet(nameless);
  const change = () => putPet(changed);
  proxy.inject('DeleteItem Pets', passOnAfter(change));
  const { error } = await operate(['remove-item', 'pets', '7']);
  expect(error).toMatch(/7 was changed meanwhile/);
  expect(await storedPets()).toEqual([changed]);
});

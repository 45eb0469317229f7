import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { copyBackProgram } from '../../infra/commands/copy-back.ts';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { localClientConfig, localCredentials } from '../../infra/local/local-account.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { caller, json, jsonError, stackIn, startAwsEndpoint } from '../support/aws-endpoint.ts';
import { shared } from '../support/shared.ts';
import { createTestTables } from '../support/test-tables.ts';
import { runCommand } from './run-command.ts';

const local = shared('dynamodb');
const { dynamodb, tables, putPet, storedPets, storeApiKey } = await createTestTables(local);
const copies = { pets: `${tables.pets}-copy`, keys: `${tables.keys}-copy` };
const { PETS_TABLE: pets, KEYS_TABLE: keys } = local.tables;
if (!pets || !keys) throw new Error('A table has no definition');
await createTables(new DynamoDBClient(localClientConfig(local.dynamodbEndpoint)), [
  { ...pets, TableName: copies.pets },
  { ...keys, TableName: copies.keys },
]);
const aws = await startAwsEndpoint();

beforeEach(() => {
  const names = { PetsTableName: tables.pets, KeysTableName: tables.keys };
  aws.responses = { ...caller('777777777777'), DescribeStacks: stackIn('UPDATE_COMPLETE', names) };
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', local.dynamodbEndpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
});

/** Runs the command on staging, and types an answer, perhaps after something else has happened. */
const copyBack = (
  kind: 'pets' | 'keys',
  { copy = copies[kind], answer = async () => 'staging' } = {},
) => runCommand(copyBackProgram(answer), [kind, copy, '--stage', 'staging']);

const hash = new Uint8Array(32).fill(7);
const pet = (id: number, fields: object = {}) => ({
  ...{ id, name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold', creation: hash },
  ...fields,
});

it('writes missing and different pets of a copy back, exactly, and lets all others stay', async () => {
  for (const id of [1, 2, 3]) await dynamodb.put({ TableName: copies.pets, Item: pet(id) });
  await putPet(pet(2, { categoryId: 2n ** 63n - 2n }));
  await putPet(pet(3));
  await putPet(pet(4, { name: 'added since' }));
  const before = await storedPets();

  const declined = await copyBack('pets', { answer: async () => 'no' });
  expect(declined.out).toMatch(
    /Missing in the table: 1, .*"1".*\nDifferent in the table: 1, .*"2"/,
  );
  expect(declined.error).toMatch(/Nothing was changed/);
  expect(await storedPets()).toEqual(before);

  expect((await copyBack('pets')).error).toBe('');
  const expected = [pet(1), pet(2), pet(3), pet(4, { name: 'added since' })];
  expect(new Set(await storedPets())).toEqual(new Set(expected));
  expect((await copyBack('pets')).out).toMatch(/There is nothing to change$/m);
});

it('neither replaces a pet that was added, nor brings back one that was removed, while it asked', async () => {
  for (const id of [11, 12]) await dynamodb.put({ TableName: copies.pets, Item: pet(id) });
  await putPet(pet(12, { name: 'wrong' }));
  const answer = async () => {
    await putPet(pet(11, { name: 'added since' }));
    await dynamodb.delete({ TableName: tables.pets, Key: { id: 12 } });
    return 'staging';
  };
  expect((await copyBack('pets', { answer })).error).toBe('');
  const stored = await storedPets();
  expect(stored).toContainEqual(pet(11, { name: 'added since' }));
  expect(stored).not.toContainEqual(expect.objectContaining({ id: 12 }));
});

it.each([
  ['that does not exist', 'no-copy', /^There is no table no-copy in account 777777777777/],
  ['that is the table itself', tables.pets, /is the table itself/],
  ['with another key', copies.keys, /key .*keyId \(S\).* id \(N\)/],
])('refuses a copy %s', async (_what, copy, message) => {
  const { out, err, error } = await copyBack('pets', { copy });
  expect(error).toMatch(message);
  expect(out + err).toBe('');
});

it('refuses a copy that is still being created, and shows from which table it was made and how much is read', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', aws.variables['AWS_ENDPOINT_URL']);
  const arnOf = (table: string) => `arn:aws:dynamodb:eu-west-1:777777777777:table/${table}`;
  const describedAs = (TableStatus: string) => (body: string) => {
    const { TableName } = JSON.parse(body);
    const RestoreSummary = { SourceTableArn: arnOf('source'), RestoreDateTime: 1_798_718_400 };
    return json({ Table: { TableArn: arnOf(TableName), TableStatus, RestoreSummary } });
  };
  aws.respond({ DescribeTable: describedAs('CREATING') });
  expect((await copyBack('pets')).error).toMatch(/is still being created/);

  const Items = Array.from({ length: 10_000 }, (_item, id) => ({ id: { N: `${id}` } }));
  aws.respond({ DescribeTable: describedAs('ACTIVE'), Scan: json({ Items }) });
  const { out, err } = await copyBack('pets');
  expect(out).toContain(`${arnOf('source')} as of 2026-12-31T12:00:00.000Z`);
  expect(err).toContain(`10000 items of ${copies.pets}`);
});

it('fails if a pet cannot be written', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', aws.variables['AWS_ENDPOINT_URL']);
  aws.respond({
    DescribeTable: (body) =>
      json({ Table: { TableArn: JSON.parse(body).TableName, TableStatus: 'ACTIVE' } }),
    Scan: (body) =>
      json({ Items: JSON.parse(body).TableName === copies.pets ? [{ id: { N: '1' } }] : [] }),
    PutItem: jsonError('AccessDeniedException'),
  });
  const { out, error } = await copyBack('pets');
  expect(error).toMatch(/PutItem.*AccessDeniedException/);
  expect(out).not.toContain('Done');
});

it('leaves an API key that the table has, and writes one that it lacks', async () => {
  await storeApiKey(generateApiKey('pets_test'), { revokedAt: '2026-01-01T00:00:00Z' });
  const { Items: [revoked] = [] } = await dynamodb.scan({ TableName: tables.keys });
  const { revokedAt: _revokedAt, ...valid } = revoked ?? {};
  const lost = { ...valid, keyId: 'lost' };
  for (const Item of [valid, lost]) await dynamodb.put({ TableName: copies.keys, Item });
  expect((await copyBack('keys')).error).toBe('');
  const { Items = [] } = await dynamodb.scan({ TableName: tables.keys });
  expect(new Set(Items)).toEqual(new Set([revoked, lost]));
});

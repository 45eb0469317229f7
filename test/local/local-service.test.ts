import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, describe, expect, inject, it, vi } from 'vitest';
import { createTables, type TableDefinition } from '../../infra/local/dynamodb/create-tables.ts';
import { startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { issueLocalApiKey } from '../../infra/local/local-api-key.ts';
import { identifyApiKey } from '../../lib/contract/api-key.ts';
import { toApiKeyRecord } from '../../lib/keys/api-key-record.ts';

const folders: string[] = [];
const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-test-'));
  folders.push(folder);
  return folder;
};

const client = new DynamoDBClient(localClientConfig(inject('dynamodb')?.dynamodbEndpoint ?? ''));
afterAll(async () => {
  client.destroy();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the local service', () => {
  const browser = { Accept: 'text/html,application/xhtml+xml' };
  it('shows its page, which holds the API key, to no page of another site', async () => {
    const { headers } = await fetch(new URL('/docs/page.js', inject('baseAddress')));
    expect(headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin');
  });

  it.each([
    ['/', browser, 302, '/docs/'],
    ['/v1', browser, 302, '/docs/'],
    ['/v1/', browser, 302, '/docs/'],
    ['/v1/pets', browser, 401, null],
    ['/', {}, 403, null],
    ['/v1', {}, 404, null],
  ])(
    'leads browsers, not API clients, to its page: %s for %o',
    async (path, headers, status, page) => {
      const url = new URL(path, inject('baseAddress'));
      const response = await fetch(url, { headers, redirect: 'manual' });
      expect([response.status, response.headers.get('Location')]).toEqual([status, page]);
    },
  );
});

describe('DynamoDB Local', () => {
  /** A PATH with a `java` of this behaviour, and what DynamoDB Local is started with. */
  const pathWith = async (behaviour?: string) => {
    const folder = await temporaryFolder();
    if (behaviour !== undefined) {
      await writeFile(join(folder, 'java'), `#!/bin/sh\n${behaviour}\n`);
      await chmod(join(folder, 'java'), 0o755);
    }
    return folder;
  };

  const needsJdk = /needs a JDK of version 17 or newer\. Install one/;
  it.each([
    ['there is no Java', undefined, needsJdk],
    ['Java is old', 'echo jdk.compiler@11.0.2', needsJdk],
    ['Java is no JDK', 'echo java.base@17', needsJdk],
    ['Java does not run', 'echo no runtime >&2; exit 1', needsJdk],
    [
      'it ends early',
      'test "$1" = --list-modules && echo jdk.compiler@17 && exit; echo no memory >&2; exit 1',
      /ended while it started: no memory$/,
    ],
  ])('says in one line what to do when %s', async (_why, behaviour, reason) => {
    vi.stubEnv('PATH', await pathWith(behaviour));
    vi.stubEnv('JAVA_HOME', undefined);
    const starting = startDynamodbLocal();
    await expect(starting).rejects.toThrow(reason);
    await expect(starting).rejects.toThrow(/^[^\n]+$/);
  });

  it('says in one line that its data directory is a file, or can not be made', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    for (const dataDirectory of [file, join(file, 'data')]) {
      await expect(startDynamodbLocal({ dataDirectory })).rejects.toThrow(
        new RegExp(
          `^Can't keep data in ${dataDirectory} \\(E\\w+\\)\\. Choose a writable directory\\.$`,
        ),
      );
    }
  });
});

describe('the tables and the key of a start', () => {
  const tableOf = (variable: string): TableDefinition => {
    const table = inject('dynamodb')?.tables[variable];
    if (table === undefined) throw new Error(`No function has ${variable}`);
    // The service of the acceptance tests has the name of the template.
    return { ...table, TableName: `${table.TableName}-${randomUUID()}` };
  };
  const pets = tableOf('PETS_TABLE');
  const keys = tableOf('KEYS_TABLE');

  it('leave a table with what it holds, unless it has other indexes', async () => {
    const { TableName, GlobalSecondaryIndexes: _indexes, ...rest } = pets;
    const Item = { id: { N: '1' } };
    await createTables(client, [pets]);
    await client.send(new PutItemCommand({ TableName, Item }));
    await createTables(client, [pets]);
    const kept = await client.send(new GetItemCommand({ TableName, Key: Item }));
    expect(kept.Item).toEqual(Item);
    const AttributeDefinitions = pets.AttributeDefinitions.filter(
      ({ AttributeName }) => AttributeName === 'id',
    );
    const indexless = { ...rest, TableName, AttributeDefinitions };
    await expect(createTables(client, [indexless])).rejects.toThrow(
      new RegExp(`^Table ${TableName} exists with other keys or indexes[^\\n]+$`),
    );
  });

  it('are a key made once, for only its user to read, and made anew when it is damaged', async () => {
    const { TableName } = keys;
    await createTables(client, [keys]);
    const directory = join(await temporaryFolder(), 'local');
    const issue = () => issueLocalApiKey(client, TableName, directory);
    const apiKey = await issue();
    const identity = identifyApiKey(apiKey, 'pets_test');
    const { Item } = await client.send(
      new GetItemCommand({ TableName, Key: { keyId: { S: identity?.keyId ?? '' } } }),
    );
    expect(toApiKeyRecord(unmarshall(Item ?? {}))).toEqual({
      ...identity,
      hash: Uint8Array.from(identity?.hash ?? []),
      owner: 'local',
      lastFour: apiKey.slice(-4),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await stat(join(directory, 'api-key'))).mode & 0o777).toBe(0o600);
    expect(await issue()).toBe(apiKey);

    await writeFile(join(directory, 'api-key'), apiKey.slice(0, -1));
    const replaced = await issue();
    expect(identifyApiKey(replaced, 'pets_test')).toBeDefined();
    expect(replaced).not.toBe(apiKey);
    expect(await issue()).toBe(replaced);
  });
});

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { issueLocalApiKey } from '../../infra/local/initial-data.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { identifyApiKey } from '../../lib/keys/api-key.ts';
import { toApiKeyRecord } from '../../lib/keys/api-key-record.ts';

const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

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
  it.each([
    ['there is no Java', undefined, 'Error: spawn java ENOENT'],
    ['Java is too old or no JDK', 'echo error: no compiler >&2; exit 1', 'error: no compiler'],
  ])('says in one line what to do when %s', async (_why, script, reason) => {
    const folder = await temporaryFolder();
    if (script) await writeFile(join(folder, 'java'), `#!/bin/sh\n${script}`, { mode: 0o755 });
    vi.stubEnv('PATH', folder);
    vi.stubEnv('JAVA_HOME', undefined);
    await expect(startDynamodbLocal()).rejects.toThrow(
      new RegExp(`^DynamoDB Local ended .*\\(${reason}\\)\\. It needs a JDK of version 17 .*$`),
    );
  });

  it('says in one line that its data directory is a file', async () => {
    const data = join(await temporaryFolder(), 'file');
    await writeFile(data, '');
    await expect(startDynamodbLocal({ data })).rejects.toThrow(/^EEXIST: .*$/);
  });
});

describe('a data directory', () => {
  it('can be used again, but not by a version with other indexes', async () => {
    const { dynamodbEndpoint = '', tables = {} } = inject('dynamodb') ?? {};
    const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
    onTestFinished(() => client.destroy());
    const created = Object.values(tables).map((table) => ({ ...table, TableName: randomUUID() }));
    await createTables(client, created);
    await createTables(client, created);
    const Projection = { ProjectionType: 'KEYS_ONLY' } as const;
    const other = created.map(({ GlobalSecondaryIndexes: indexes, ...table }) => ({
      ...table,
      GlobalSecondaryIndexes: indexes?.map((index) => ({ ...index, Projection })),
    }));
    await expect(createTables(client, other)).rejects.toThrow(
      /^The data is from another version .*Choose another data directory, or empty this one with --reset\.$/,
    );
  });
});

describe('the local API key', () => {
  it('is made once, for only its user to read, and made anew when it is damaged', async () => {
    const { dynamodbEndpoint = '', tables = {} } = inject('dynamodb') ?? {};
    const keys = tables['KEYS_TABLE'];
    if (!keys) throw new Error('No function has KEYS_TABLE');
    // The service of the acceptance tests has the name of the template.
    const TableName = randomUUID();
    const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
    onTestFinished(() => client.destroy());
    await createTables(client, [{ ...keys, TableName }]);
    const directory = join(await temporaryFolder(), 'local');
    const issue = () => issueLocalApiKey(client, TableName, directory);
    const apiKey = await issue();
    const { keyId = '', hash = [] } = identifyApiKey(apiKey, 'pets_test') ?? {};
    const documents = DynamoDBDocumentClient.from(client);
    const { Item = {} } = await documents.send(new GetCommand({ TableName, Key: { keyId } }));
    expect(toApiKeyRecord(Item)).toEqual({
      keyId,
      hash: Uint8Array.from(hash),
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

import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import { issueLocalApiKey } from '../../infra/local/initial-data.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { identifyApiKey } from '../../lib/keys/api-key.ts';
import { toApiKeyRecord } from '../../lib/keys/api-key-record.ts';
import { pageFiles } from '../../lib/openapi/reference-page.ts';

const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

describe('the local service', () => {
  const browser = { Accept: 'text/html,application/xhtml+xml' };
  const { origin, hash } = new URL(inject('docsAddress') ?? inject('baseAddress'));
  const token = hash.replace('#token=', '');

  it('has its API key in no file of its page', async () => {
    for (const name of Object.keys(pageFiles)) {
      const file = await fetch(`${origin}/docs/${name}`);
      expect(file.status).toBe(200);
      expect(await file.text()).not.toContain(inject('apiKey'));
    }
  });

  it.each([
    ['the token', `Bearer ${token}`, 200, inject('apiKey')],
    [
      'another token',
      `Bearer ${token.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))}`,
      403,
      '',
    ],
    ['a longer token', `Bearer ${token}a`, 403, ''],
    ['no token', '', 403, ''],
  ])(
    'gives its page the API key only for the token: %s',
    async (_what, Authorization, status, key) => {
      const response = await fetch(`${origin}/docs/api-key`, { headers: { Authorization } });
      expect([response.status, await response.text()]).toEqual([status, key]);
      expect(response.headers.get('Cache-Control')).toBe('no-store');
    },
  );

  it('lets no site show its page in a frame', async () => {
    const { headers } = await fetch(`${origin}/docs/`);
    expect(headers.get('Content-Security-Policy')).toBe("frame-ancestors 'none'");
  });

  it.each([
    ['/', browser, 302, '/docs/'],
    ['/v1/', browser, 302, '/docs/'],
    ['/v1/pets', browser, 401, null],
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

it('a taken port is reported in one line', async () => {
  const first = await startGateway({ port: 0, log: () => {} });
  onTestFinished(first.stop);
  const { port } = new URL(first.origin);
  await expect(startGateway({ port: Number(port), log: () => {} })).rejects.toThrow(
    `Can't listen on port ${port} (EADDRINUSE). Stop what listens there, or choose another port with npm start -- --port <number>.`,
  );
});

describe('DynamoDB Local', () => {
  const java = (version: string) =>
    `#!/bin/sh\n[ "$1" = -version ] || { echo Why; exit 1; }\necho 'java version "${version}"' >&2`;

  it.each([
    ['there is no Java', undefined, /^DynamoDB Local needs a JDK of version 17 .* is not found\. /],
    [
      'Java is too old',
      java('11.0.2'),
      / needs a JDK of version 17 .* is of version 11\. Install /,
    ],
    ['Java ends with a reason', java('21'), /^DynamoDB Local ended while it started: Why$/],
  ])('says what to do when %s', async (_why, program, message) => {
    const folder = await temporaryFolder();
    if (program) await writeFile(join(folder, 'java'), program, { mode: 0o755 });
    vi.stubEnv('PATH', folder);
    vi.stubEnv('JAVA_HOME', undefined);
    await expect(startDynamodbLocal()).rejects.toThrow(message);
  });

  it('says in one line that its data directory is a file', async () => {
    const data = join(await temporaryFolder(), 'file');
    await writeFile(data, '');
    await expect(startDynamodbLocal({ data })).rejects.toThrow(
      `Can't make the directory ${data} (EEXIST). Choose another directory with --data.`,
    );
  });
});

describe('a data directory', () => {
  it('can be used again, but not by a version with other indexes', async () => {
    const { dynamodbEndpoint = '', tables: { KEYS_TABLE: keys } = {} } = inject('dynamodb') ?? {};
    if (!keys) throw new Error('No function has KEYS_TABLE');
    const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
    onTestFinished(() => client.destroy());
    const TableName = randomUUID();
    const withIndexes = (projection: 'ALL' | 'KEYS_ONLY') => {
      const { KeySchema } = keys;
      const Projection = { ProjectionType: projection };
      const names = ['one', 'two', 'three', 'four'];
      const indexes = names.map((IndexName) => ({ IndexName, KeySchema, Projection }));
      return [{ ...keys, TableName, GlobalSecondaryIndexes: indexes }];
    };
    await createTables(client, withIndexes('ALL'));
    await createTables(client, withIndexes('ALL'));
    await expect(createTables(client, withIndexes('KEYS_ONLY'))).rejects.toThrow(
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

    await chmod(join(directory, 'api-key'), 0o644);
    await writeFile(join(directory, 'api-key'), apiKey.slice(0, -1));
    const replaced = await issue();
    expect(identifyApiKey(replaced, 'pets_test')).toBeDefined();
    expect(replaced).not.toBe(apiKey);
    expect((await stat(join(directory, 'api-key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['api-key']);
    expect(await issue()).toBe(replaced);
  });
});

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createTables, tablesOf } from '../../infra/local/dynamodb/create-tables.ts';
import {
  type DynamodbLocal,
  freePort,
  startDynamodbLocal,
} from '../../infra/local/dynamodb/dynamodb-local.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { issueLocalApiKey } from '../../infra/local/local-api-key.ts';
import { startLocalService } from '../../infra/local/local-service.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { identifyApiKey } from '../../lib/contract/api-key.ts';
import { toApiKeyRecord } from '../../lib/keys/api-key-record.ts';
import { delayed, FaultProxy } from '../support/fault-proxy.ts';
import {
  commandLines,
  isListening,
  type NpmStart,
  ProjectCopy,
  pathWithoutJava,
} from '../support/npm-start.ts';

const folders: string[] = [];
const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-test-'));
  folders.push(folder);
  return folder;
};

let project: ProjectCopy;
beforeAll(async () => {
  project = await ProjectCopy.make();
  folders.push(project.path);
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const petsTable = {
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  AttributeDefinitions: [
    { AttributeName: 'id', AttributeType: 'N' },
    { AttributeName: 'status', AttributeType: 'S' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
  GlobalSecondaryIndexes: [
    {
      IndexName: 'byStatus',
      KeySchema: [
        { AttributeName: 'status', KeyType: 'HASH' },
        { AttributeName: 'id', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name'] },
    },
  ],
};
const keysTable = {
  TableName: 'Keys',
  KeySchema: [{ AttributeName: 'keyId', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'keyId', AttributeType: 'S' }],
  BillingMode: 'PAY_PER_REQUEST',
};
const templateWith = (Properties: Record<string, unknown>) => ({
  Resources: { Pets: { Type: 'AWS::DynamoDB::Table', Properties } },
});

afterEach(() => project.endAll());

describe('npm start that can not start', () => {
  const javaThat = async (behaviour: string) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'java'), `#!/bin/sh\n${behaviour}\n`);
    await chmod(join(folder, 'java'), 0o755);
    return `${folder}:${process.env['PATH']}`;
  };

  it.each<[string, () => Promise<ConstructorParameters<typeof NpmStart>[1]>, RegExp]>([
    [
      'no Java',
      async () => {
        const path = await pathWithoutJava();
        folders.push(path);
        return { port: 0, path };
      },
      /needs Java, which is not installed\. Install Java 17 or newer/,
    ],
    [
      'an old Java',
      async () => ({ port: 0, path: await javaThat('echo java.base@11.0.2') }),
      /does not run on this machine's Java\. Install Java 17 or newer/,
    ],
    [
      'a Java that is none',
      async () => ({ port: 0, path: await javaThat('echo no runtime >&2; exit 1') }),
      /does not run on this machine's Java\. Install Java 17 or newer/,
    ],
    [
      'a DynamoDB Local that ends',
      async () => ({
        port: 0,
        path: await javaThat(
          'test "$1" = --list-modules && echo java.base@17 && exit; echo no memory >&2; exit 1',
        ),
      }),
      /ended while it started: no memory/,
    ],
    ['a PORT that is no number', async () => ({ port: 'http' }), /Set PORT to a number/],
    ['a PORT beyond all ports', async () => ({ port: 65_536 }), /Set PORT to a number/],
    [
      'an unknown option',
      async () => ({ port: 0, args: ['--date', 'x'] }),
      /--date.*npm start -- --help/,
    ],
    [
      'an argument without option',
      async () => ({ port: 0, args: ['x'] }),
      /'x'.*npm start -- --help/,
    ],
    [
      'a data directory that is a file',
      async () => {
        const file = join(await temporaryFolder(), 'file');
        await writeFile(file, '');
        return { port: 0, args: ['--data', file] };
      },
      /Can't keep data in .*file \(EEXIST\)\. Choose a writable directory/,
    ],
    [
      'a data directory where none can be made',
      async () => ({ port: 0, args: ['--data', '/proc/none/data'] }),
      /Can't keep data in \/proc\/none\/data \(E\w+\)\. Choose a writable directory/,
    ],
    [
      'a damaged database',
      async () => {
        const folder = await temporaryFolder();
        await writeFile(join(folder, 'shared-local-instance.db'), 'no database');
        return { port: 0, args: ['--data', folder] };
      },
      /can't use the data in .*animal-store-test-\w+; .*Move that directory away, or choose another/,
    ],
  ])(
    'for %s, says so in one line and exits with 1',
    async (_why, options, reason) => {
      const started = project.npmStart(await options());
      expect(await started.exitCode()).toBe(1);
      expect(started.err).toMatch(/^Not started: [^\n]+\n$/);
      expect(started.err).toMatch(reason);
      await project.expectNothingLeft(started);
    },
    120_000,
  );
});

describe('a request that comes before the service is up', () => {
  it('waits for the local key to be in its table', async () => {
    const tableName = inject('dynamodb')?.tables['KEYS_TABLE']?.TableName;
    const dynamodb = await startDynamodbLocal();
    const proxy = new FaultProxy(dynamodb.endpoint);
    proxy.inject(`PutItem ${tableName}`, delayed(2_000));
    const port = await freePort();
    const apiKey = await readFile(join(projectDirectory, '.local', 'api-key'), 'utf8');
    let response: Promise<Response> | undefined;
    const service = await startLocalService({
      port,
      dynamodbEndpoint: await proxy.listen(),
      functionsDynamodbEndpoint: dynamodb.endpoint,
      progress: () => {
        response ??= fetch(`http://127.0.0.1:${port}/v1/pets`, {
          headers: { Authorization: `Bearer ${apiKey.trim()}` },
        });
      },
    });
    try {
      expect((await response)?.status).toBe(200);
      expect(proxy.requests).toContain(`PutItem ${tableName}`);
    } finally {
      await service.stop();
      await proxy.refuseConnections();
      await dynamodb.stop();
    }
  }, 120_000);
});

describe('the bundles', () => {
  it('are replaced as a whole, beside nothing else, and go with their function', async () => {
    const script = "await (await import('./infra/lambda/bundle-functions.ts')).bundleFunctions()";
    const bundle = async () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
        cwd: project.path,
      });
    const build = join(project.path, '.build');
    await writeFile(
      join(project.path, 'functions', 'passing.ts'),
      'export const handler = () => {};',
    );
    await bundle();
    const file = join(build, 'functions', 'passing', 'passing.cjs');
    const reader = await open(file);
    try {
      await writeFile(
        join(project.path, 'functions', 'passing.ts'),
        'export const handler = () => 1;',
      );
      await bundle();
      // A reader that has begun continues with the old file.
      expect(await reader.readFile('utf8')).not.toBe(await readFile(file, 'utf8'));
    } finally {
      await reader.close();
      await rm(join(project.path, 'functions', 'passing.ts'));
    }
    expect((await readdir(join(build, 'functions', 'passing'))).sort()).toEqual([
      'passing.cjs',
      'passing.mjs',
    ]);
    await bundle();
    expect((await readdir(build)).sort()).toEqual(['functions', 'maps']);
    const left = await readdir(build, { recursive: true });
    expect(left).toContain(join('functions', 'get-pet', 'get-pet.cjs'));
    expect(left.filter((name) => name.includes('passing'))).toEqual([]);
  });
});

describe('DynamoDB Local', () => {
  it('that does not answer in time is an error of one line, and does not stay', async () => {
    const before = (await commandLines()).match(/dynamodb-on-loopback/g)?.length;
    await expect(startDynamodbLocal({ startTimeoutMs: 1 })).rejects.toThrow(
      /^DynamoDB Local did not answer within 0\.001 s\. [^\n]+$/,
    );
    expect((await commandLines()).match(/dynamodb-on-loopback/g)?.length).toBe(before);
  });

  it('starts with the Java of JAVA_HOME when none is on the PATH', async () => {
    const path = await pathWithoutJava();
    folders.push(path);
    const { stdout: home } = await promisify(execFile)('sh', [
      '-c',
      'dirname "$(dirname "$(readlink -f "$(command -v java)")")"',
    ]);
    vi.stubEnv('JAVA_HOME', home.trim());
    vi.stubEnv('PATH', path);
    try {
      const dynamodb = await startDynamodbLocal();
      await dynamodb.stop();
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('ends when the process that started it is killed', async () => {
    const module = join(projectDirectory, 'infra/local/dynamodb/dynamodb-local.ts');
    const script = `const { startDynamodbLocal } = await import(${JSON.stringify(module)});
      console.log((await startDynamodbLocal()).endpoint);`;
    const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [endpoint] = await once(owner.stdout, 'data');
    const port = Number(new URL(`${endpoint}`).port);
    expect(await isListening(port)).toBe(true);
    owner.kill('SIGKILL');
    await expect.poll(() => isListening(port), { timeout: 30_000 }).toBe(false);
  });
});

describe('the tables and the key of a start', () => {
  let dynamodb: DynamodbLocal;
  let client: DynamoDBClient;
  beforeAll(async () => {
    dynamodb = await startDynamodbLocal();
    client = new DynamoDBClient(localClientConfig(dynamodb.endpoint));
  });
  afterAll(async () => {
    client.destroy();
    await dynamodb.stop();
  });

  it('are the tables that the template declares', async () => {
    await createTables(client, tablesOf(templateWith(petsTable)).values());
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Pets' }));
    expect(Table).toMatchObject({
      AttributeDefinitions: expect.arrayContaining(petsTable.AttributeDefinitions),
      KeySchema: petsTable.KeySchema,
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      GlobalSecondaryIndexes: [expect.objectContaining(petsTable.GlobalSecondaryIndexes[0])],
    });
  });

  it('leave a table with what it holds, unless it has other indexes', async () => {
    const Item = { id: { N: '1' } };
    await client.send(new PutItemCommand({ TableName: 'Pets', Item }));
    await createTables(client, tablesOf(templateWith(petsTable)).values());
    const kept = await client.send(new GetItemCommand({ TableName: 'Pets', Key: Item }));
    expect(kept.Item).toEqual(Item);

    const { GlobalSecondaryIndexes: _gone, ...rest } = petsTable;
    const indexless = { ...rest, AttributeDefinitions: rest.AttributeDefinitions.slice(0, 1) };
    await expect(createTables(client, tablesOf(templateWith(indexless)).values())).rejects.toThrow(
      /^Table Pets exists with other keys or indexes[^\n]+$/,
    );
  });

  it('are a key made once, for only its user to read, and made anew when it is damaged', async () => {
    await createTables(client, tablesOf(templateWith(keysTable)).values());
    const directory = join(await temporaryFolder(), 'local');
    const issue = () =>
      issueLocalApiKey(client, { tableName: 'Keys', prefix: 'pets_test' }, directory);
    const apiKey = await issue();
    const identity = identifyApiKey(apiKey, 'pets_test');
    const { Item } = await client.send(
      new GetItemCommand({ TableName: 'Keys', Key: { keyId: { S: identity?.keyId ?? '' } } }),
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

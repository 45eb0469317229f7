import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, inject, it, vi } from 'vitest';
import { freePort, startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { startLocalService } from '../../infra/local/local-service.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { delayed, FaultProxy } from '../support/fault-proxy.ts';
import { commandLines, isListening, ProjectCopy } from '../support/npm-start.ts';

const folders: string[] = [];
const temporaryFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-test-'));
  folders.push(folder);
  return folder;
};
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the local service', () => {
  it('names a damaged database and leaves nothing running', async () => {
    const dataDirectory = await temporaryFolder();
    await writeFile(join(dataDirectory, 'shared-local-instance.db'), 'no database');
    await expect(
      startLocalService({ assembly: inject('assembly'), dataDirectory }),
    ).rejects.toThrow(
      /^DynamoDB Local can't use its data, .*Choose another data directory, or empty this one with --reset\.$/,
    );
    expect(await commandLines()).not.toContain(dataDirectory);
  });

  it('lets a request that comes early wait until the local key is in its table', async () => {
    const tableName = inject('dynamodb')?.tables['KEYS_TABLE']?.TableName;
    const dynamodb = await startDynamodbLocal();
    const proxy = new FaultProxy(dynamodb.endpoint);
    proxy.inject(`PutItem ${tableName}`, delayed(2_000));
    const port = await freePort();
    const apiKey = await readFile(join(projectDirectory, '.local', 'api-key'), 'utf8');
    let response: Promise<Response> | undefined;
    const service = await startLocalService({
      port,
      assembly: inject('assembly'),
      dynamodbEndpoint: await proxy.listen(),
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
  });
});

describe('the bundles', () => {
  it('are replaced as a whole, beside nothing else, and removed with their function', async () => {
    const { path } = await ProjectCopy.make();
    folders.push(path);
    const { bundleFunctions } = await import(join(path, 'infra/lambda/bundle-functions.ts'));
    const source = join(path, 'functions', 'passing.ts');
    const build = join(path, '.build');
    const file = join(build, 'functions', 'passing', 'passing.cjs');
    await writeFile(source, 'export const handler = () => {};');
    await bundleFunctions();
    const reader = await open(file);
    try {
      await writeFile(source, 'export const handler = () => 1;');
      await bundleFunctions();
      // A reader that has begun continues with the old file.
      expect(await reader.readFile('utf8')).not.toBe(await readFile(file, 'utf8'));
    } finally {
      await reader.close();
    }
    expect((await readdir(join(build, 'functions', 'passing'))).sort()).toEqual([
      'passing.cjs',
      'passing.mjs',
    ]);
    await rm(source);
    await bundleFunctions();
    expect((await readdir(build)).sort()).toEqual(['functions', 'maps']);
    const left = await readdir(build, { recursive: true });
    expect(left).toContain(join('functions', 'get-pet', 'get-pet.cjs'));
    expect(left.filter((name) => name.includes('passing'))).toEqual([]);
  });
});

describe('DynamoDB Local', () => {
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

  it('starts with the Java of JAVA_HOME when the one on the PATH is old', async () => {
    const java = execFileSync('sh', ['-c', 'readlink -f "$(command -v java)"'], {
      encoding: 'utf8',
    });
    vi.stubEnv('JAVA_HOME', join(java.trim(), '../..'));
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'java'), '#!/bin/sh\necho jdk.compiler@11', { mode: 0o755 });
    vi.stubEnv('PATH', folder);
    await (await startDynamodbLocal()).stop();
  });
});

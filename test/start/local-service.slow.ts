import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { startLocalService } from '../../infra/local/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { commandLines, copyProject, runInShell } from './npm-start.ts';

describe('the local service', () => {
  it("says why it can't use its data, and calls it damaged only if it is", async () => {
    const data = await temporaryFolder();
    const file = join(data, 'shared-local-instance.db');
    const reader = new DatabaseSync(file);
    reader.exec('BEGIN EXCLUSIVE');
    const message = /^DynamoDB Local can't use the data in .*: database is locked\. See whether /;
    await expect(startLocalService({ data })).rejects.toThrow(message);
    reader.close();
    await writeFile(file, 'no database');
    await expect(startLocalService({ data })).rejects.toThrow(/ not a database\. It is damaged: /);
    expect(await commandLines()).not.toContain(data);

    const { endpoint, explain, stop } = await startDynamodbLocal(data);
    onTestFinished(stop);
    const client = new DynamoDBClient(localClientConfig(endpoint));
    await expect(client.send(new ListTablesCommand())).rejects.toThrow();
    const other = new Error('The template is wrong');
    expect(explain(other), 'an error that has nothing to do with the data').toBe(other);
  });
});

describe('a data directory', () => {
  it('is refused while another service uses it', async () => {
    const data = await temporaryFolder();
    const first = await startDynamodbLocal(data);
    try {
      await expect(startDynamodbLocal(data)).rejects.toThrow(
        `Another service uses ${data}. Choose another directory with --data.`,
      );
    } finally {
      await first.stop();
    }
    // The lock of a process that was killed does not prevent a start.
    await (await startDynamodbLocal(data)).stop();
  });
});

describe('the bundles', () => {
  it('are replaced as a whole, beside nothing else, and removed with their function', async () => {
    const path = await copyProject();
    const { bundleFunctions } = await import(join(path, 'infra/build/bundle-functions.ts'));
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
      'exec-wrapper',
      'passing.cjs',
      'passing.cjs.map',
      'passing.mjs',
    ]);
    await rm(source);
    await bundleFunctions();
    expect((await readdir(build)).sort()).toEqual(['functions']);
    const left = await readdir(join(build, 'functions'));
    expect(left).toContain('get-pet');
    expect(left).not.toContain('passing');
  });

  it('can be read by Lambda, with any umask', async () => {
    const path = await copyProject();
    const script = "await (await import('./infra/build/bundle-functions.ts')).bundleFunctions()";
    await promisify(execFile)(
      'sh',
      ['-c', 'umask 077; exec "$0" --input-type=module --eval "$1"', process.execPath, script],
      { cwd: path },
    );
    const folder = join(path, '.build', 'functions', 'get-pet');
    const modes = ['.', 'exec-wrapper', 'get-pet.cjs', 'get-pet.cjs.map', 'get-pet.mjs'].map(
      async (name) => {
        const { mode } = await stat(join(folder, name));
        return (mode & 0o777).toString(8);
      },
    );
    expect(await Promise.all(modes)).toEqual(['755', '755', '644', '644', '644']);
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
    const listens = () =>
      fetch(`${endpoint}`).then(
        () => true,
        () => false,
      );
    expect(await listens()).toBe(true);
    owner.kill('SIGKILL');
    await expect.poll(listens, { timeout: 30_000 }).toBe(false);
  });

  it('starts with the Java of JAVA_HOME, without the options for every Java program, and keeps data in a path of any letters in the locale C', async () => {
    vi.stubEnv('LC_ALL', 'C');
    vi.stubEnv('JAVA_TOOL_OPTIONS', '-XX:+UseG1GC');
    vi.stubEnv('JDK_JAVA_OPTIONS', '-XX:+UseParallelGC');
    vi.stubEnv('_JAVA_OPTIONS', '-XX:+UseZGC');
    const java = await runInShell('readlink -f "$(command -v java)"');
    vi.stubEnv('JAVA_HOME', join(java.trim(), '../..'));
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'java'), '#!/bin/sh\nexit 1', { mode: 0o755 });
    vi.stubEnv('PATH', folder);
    const data = join(folder, 'dätä');
    await (await startDynamodbLocal(data)).stop();
    expect(await readdir(data)).toContain('animal-store.lock');
  });
});

import { randomUUID } from 'node:crypto';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { startDynamodbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import { localApiKey } from '../../infra/local/initial-data.ts';
import { localClientConfig } from '../../infra/local/local-account.ts';
import { identifyApiKey } from '../../lib/keys/api-key.ts';
import { shared } from '../support/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('a taken port is reported in one line', async () => {
  const first = await startGateway({ port: 0, log: () => {} });
  onTestFinished(first.stop);
  const { port } = new URL(first.origin);
  await expect(startGateway({ port: Number(port), log: () => {} })).rejects.toThrow(
    `Can't listen on port ${port} (EADDRINUSE). Stop what listens there, or choose another port with npm start -- --port <number>.`,
  );
});

describe('DynamoDB Local', () => {
  const java = (module: string) =>
    `#!/bin/sh\n[ "$1" = --describe-module ] || { echo Why; exit 1; }\n${module}`;

  it.each([
    ['there is no Java', undefined, /^DynamoDB Local needs a JDK of version 17 .* is not found\. /],
    [
      'Java is too old',
      java('echo jdk.compiler@11.0.2'),
      / needs a JDK of version 17 .* is of version 11\. Install /,
    ],
    [
      'Java has no compiler',
      java('echo jdk.compiler not found; exit 1'),
      / needs a JDK of version 17 .* a JRE without a compiler\. Install /,
    ],
    [
      'Java ends with a reason',
      java('echo jdk.compiler@21'),
      /^DynamoDB Local ended while it started: Why$/,
    ],
  ])('says what to do when %s', async (_why, program, message) => {
    const folder = await temporaryFolder();
    if (program) await writeFile(join(folder, 'java'), program, { mode: 0o755 });
    vi.stubEnv('PATH', folder);
    vi.stubEnv('JAVA_HOME', undefined);
    await expect(startDynamodbLocal()).rejects.toThrow(message);
  });
});

it('a data directory can be used again, but not by a version with other indexes', async () => {
  const { dynamodbEndpoint, tables } = shared('dynamodb');
  const { KEYS_TABLE: keys } = tables;
  if (!keys) throw new Error('No function has KEYS_TABLE');
  const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
  onTestFinished(() => client.destroy());
  const TableName = randomUUID();
  const withIndexes = (names: readonly string[]) => {
    const { KeySchema } = keys;
    const Projection = { ProjectionType: 'ALL' as const };
    const indexes = names.map((IndexName) => ({ IndexName, KeySchema, Projection }));
    return [{ ...keys, TableName, GlobalSecondaryIndexes: indexes }];
  };
  const names = ['one', 'two', 'three', 'four'];
  await createTables(client, withIndexes(names));
  await createTables(client, withIndexes(names));
  await expect(createTables(client, withIndexes(names.slice(1)))).rejects.toThrow(
    /^DynamoDB Local has a table .* other indexes\. Choose another directory /,
  );
});

it.each(['AWS_USE_FIPS_ENDPOINT', 'AWS_USE_DUALSTACK_ENDPOINT', 'AWS_DEFAULTS_MODE'])(
  "DynamoDB Local is reached in spite of a user's settings of AWS: %s",
  async (name) => {
    vi.stubEnv(name, 'true');
    const client = new DynamoDBClient(localClientConfig(shared('dynamodb').dynamodbEndpoint));
    await client.send(new ListTablesCommand());
  },
);

it('the local API key is made once, for only its user to read, and made anew when it is damaged', async () => {
  const directory = join(await temporaryFolder(), 'local');
  const file = join(directory, 'api-key');
  const apiKey = await localApiKey(directory);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await localApiKey(directory)).toBe(apiKey);

  await chmod(file, 0o644);
  await writeFile(file, apiKey.slice(0, -1));
  const replaced = await localApiKey(directory);
  expect(identifyApiKey(replaced, 'pets_test')).toBeDefined();
  expect(replaced).not.toBe(apiKey);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await localApiKey(directory)).toBe(replaced);
});

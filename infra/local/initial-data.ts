import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Pet, petStatuses } from '../../lib/contract/pet.ts';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { keyAdministration } from '../../lib/keys/key-administration.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { localStage } from './local-account.ts';

/** A hundred animals, the same every time, with the ids 1 to 100. */
const animals = Array.from({ length: 100 }, (_, index): Pet => {
  const name = ['Bella', 'Coco', 'Luna', 'Max', 'Rocky'][index % 5];
  const status = petStatuses[index % petStatuses.length] ?? 'available';
  return { id: index + 1, name: `${name} ${index + 1}`, categoryId: (index % 4) + 1, status };
});

/** Puts the hundred animals into the pets table. They replace stored pets that have the same ids. */
export const seed = async (client: DynamoDBClient, table: string): Promise<void> => {
  const documents = DynamoDBDocumentClient.from(client);
  await Promise.all(
    animals.map((Item) => documents.send(new PutCommand({ TableName: table, Item }))),
  );
};

/**
 * Puts this machine's API key into the keys table. The first start generates the key and keeps it for later
 * ones in the directory, in a file that only the user can read.
 */
export const issueLocalApiKey = async (
  client: DynamoDBClient,
  keysTable: string,
  directory = join(projectDirectory, '.local'),
): Promise<string> => {
  const prefix = localStage.apiKeyPrefix;
  const file = join(directory, 'api-key');
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  const apiKey = identifyApiKey(kept, prefix) ? kept : generateApiKey(prefix);
  if (apiKey !== kept) {
    await mkdir(directory, { recursive: true });
    // The key is written to a new file, because an existing file would keep its mode.
    const draft = `${file}.${randomUUID()}`;
    await writeFile(draft, `${apiKey}\n`, { mode: 0o600 });
    await rename(draft, file);
  }
  const dynamodb = DynamoDBDocumentClient.from(client);
  await keyAdministration(dynamodb, keysTable, prefix).issue('local', undefined, apiKey);
  return apiKey;
};

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Pet, petStatuses } from '../../lib/contract/pet.ts';
import { generateApiKey, identifyApiKey } from '../../lib/keys/api-key.ts';
import { keyAdministration } from '../../lib/keys/key-administration.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { createTables } from './dynamodb/create-tables.ts';
import { localClientConfig } from './local-account.ts';
import { localStage } from './local-stage.ts';
import type { StackDefinition } from './stack-definition.ts';

/** A hundred animals, the same every time, with the ids 1 to 100. */
const animals = Array.from({ length: 100 }, (_, index): Pet => {
  const name = ['Bella', 'Coco', 'Luna', 'Max', 'Rocky'][index % 5];
  const status = petStatuses[index % petStatuses.length] ?? 'available';
  return { id: index + 1, name: `${name} ${index + 1}`, categoryId: (index % 4) + 1, status };
});

/**
 * Creates the tables that don't exist yet. Puts this machine's API key into them and, with `seed`, the
 * hundred animals. Returns the API key. Throws the errors of `createTables`.
 */
export const prepareTables = async (
  dynamodbEndpoint: string,
  tables: StackDefinition['tables'],
  seed = false,
): Promise<string> => {
  const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
  const dynamodb = DynamoDBDocumentClient.from(client);
  const { PETS_TABLE: pets, KEYS_TABLE: keys } = tables;
  if (!pets || !keys)
    throw new Error('In the template, no function has PETS_TABLE and KEYS_TABLE.');
  await createTables(client, Object.values(tables));
  const put = (Item: Pet) => dynamodb.send(new PutCommand({ TableName: pets.TableName, Item }));
  if (seed) await Promise.all(animals.map(put));
  const prefix = localStage.apiKeyPrefix;
  const apiKey = await localApiKey(join(projectDirectory, '.local'));
  await keyAdministration(dynamodb, keys.TableName, prefix).issue({ owner: 'local' }, apiKey);
  client.destroy();
  return apiKey;
};

/**
 * Returns this machine's API key. The first start generates it and keeps it for later ones in a directory, in
 * a file that only the user can read.
 */
export const localApiKey = async (directory: string): Promise<string> => {
  const file = join(directory, 'api-key');
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (identifyApiKey(kept, localStage.apiKeyPrefix)) return kept;
  const apiKey = generateApiKey(localStage.apiKeyPrefix);
  await mkdir(directory, { recursive: true });
  // An existing file would keep its mode.
  await rm(file, { force: true });
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 });
  return apiKey;
};

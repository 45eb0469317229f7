import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type ApiKeyPrefix, generateApiKey, identifyApiKey } from '../../lib/contract/api-key.ts';
import { keyAdministration } from '../../lib/keys/key-administration.ts';
import { projectDirectory } from '../project-directory.ts';
import { localStage } from './stack-definition.ts';

const localDirectory = join(projectDirectory, '.local');

/**
 * Puts the API key of this machine into the keys table: the same at every start, made at the first one and kept in
 * the directory, where only the user can read it.
 */
export const issueLocalApiKey = async (
  client: DynamoDBClient,
  keysTable: string,
  directory = localDirectory,
): Promise<string> => {
  const { apiKeyPrefix } = localStage;
  const apiKey = await localApiKey(apiKeyPrefix, join(directory, 'api-key'));
  const dynamodb = DynamoDBDocumentClient.from(client);
  await keyAdministration(dynamodb, keysTable, apiKeyPrefix).issue('local', undefined, apiKey);
  return apiKey;
};

const localApiKey = async (prefix: ApiKeyPrefix, keyFile: string): Promise<string> => {
  const kept = await readFile(keyFile, 'utf8').catch(() => '');
  if (identifyApiKey(kept.trim(), prefix)) return kept.trim();
  const apiKey = generateApiKey(prefix);
  await mkdir(dirname(keyFile), { recursive: true });
  // Renamed into place, so that another start never reads half a key.
  const draft = `${keyFile}.${process.pid}`;
  await writeFile(draft, `${apiKey}\n`, { mode: 0o600 });
  await rename(draft, keyFile);
  return apiKey;
};

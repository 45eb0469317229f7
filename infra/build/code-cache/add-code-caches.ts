import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  afterCreation,
  creation,
  type GoldenRequest,
} from '../../../lib/checks/golden-requests.ts';
import { bundleName } from '../../settings/names.ts';
import { bundleDirectory, replaceFile } from '../bundle-functions.ts';
import { codeCacheFile } from '../entry-module.ts';
import { arm64Node } from './arm64-node.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { makeCodeCache, reproducible } from './make-code-cache.ts';

/**
 * Adds V8's code cache for Lambda to the folder of each function that clients call. Where it can't
 * be made, it prints why in one line and adds none: the functions run without it, but start slower.
 */
export const addCodeCaches = async (): Promise<void> => {
  try {
    const node = [...(await arm64Node()), ...reproducible];
    await using standIn = await DynamodbStandIn.start();
    const { apiKey, environment } = standIn;
    const caches = await Promise.all(
      goldenRequestsOf(apiKey).map(async ({ functionName, event }) => {
        const name = bundleName(functionName);
        const directory = bundleDirectory(name);
        const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
        const options = { directory, name, environment, events: [event], node };
        const file = join(directory, codeCacheFile(name, bundle));
        return { file, cache: await makeCodeCache(options) };
      }),
    );
    for (const { file, cache } of caches) await replaceFile(file, cache);
  } catch (error) {
    const [reason] = `${error instanceof Error ? error.message : error}`.split('\n');
    console.error(`The functions get no code cache, and will start slower. ${reason}`);
  }
};

/** A request to each function that clients call. */
export const goldenRequestsOf = (apiKey: string): readonly GoldenRequest[] => [
  creation(apiKey),
  ...afterCreation(apiKey, 1),
];

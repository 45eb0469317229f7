import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleDirectory, replaceFile } from './bundle-functions.ts';
import { codeCacheFile } from './entry-module.ts';

/** Lambda's machines, on which the functions run (`infra/constructs/stage-function.ts`). */
const lambdaMachine = 'linux-arm64';

/**
 * Adds V8's code cache to the folders of these functions. Each must start in the environment that is returned
 * for an endpoint in DynamoDB's place. Only a machine like those of Lambda can make a cache that they accept.
 * On another machine, it says so in one line and adds none: the functions run without it, but start slower.
 */
export const addCodeCaches = async (
  functionNames: readonly string[],
  environmentFor: (dynamodbEndpoint: string) => Readonly<Record<string, string>>,
  machine = lambdaMachine,
): Promise<void> => {
  if (`${process.platform}-${process.arch}` !== machine) {
    console.error(`The functions get no code cache, and start slower: this is not ${machine}.`);
    return;
  }
  await using dynamodb = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(dynamodb, 'listening');
  const address = dynamodb.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const environment = environmentFor(`http://127.0.0.1:${port}`);
  for (const name of functionNames) {
    const directory = bundleDirectory(name);
    const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
    const cache = await makeCodeCache({ directory, name, environment });
    await replaceFile(join(directory, codeCacheFile(name, bundle)), cache);
  }
};

interface CodeCacheOptions {
  /** The folder that is deployed. */
  readonly directory: string;
  /** The name of the function in it. */
  readonly name: string;
  /** The function's environment variables. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Flags under which the same bundle makes the same bytes. V8 accepts the cache without them. */
const reproducible = ['--predictable', '--random-seed=1'];

/**
 * Makes V8's code cache of a function for this machine and the Node.js that runs this. Throws an Error with
 * what the function printed when its initialisation fails.
 */
export const makeCodeCache = async (options: CodeCacheOptions): Promise<Buffer> => {
  const { directory, name, environment } = options;
  await using output = await mkdtempDisposable(join(tmpdir(), 'animal-store-code-cache-'));
  const file = join(output.path, 'cache');
  const script = join(import.meta.dirname, 'make-code-cache.mjs');
  const words = [script, join(directory, `${name}.mjs`), `/var/task/${name}.cjs`, file];
  await promisify(execFile)(process.execPath, [...reproducible, ...words], { env: environment });
  return readFile(file);
};

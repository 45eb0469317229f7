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
 * Adds V8's code cache to the folders of these functions, which must start in `functionEnvironment`. Only a
 * machine like those of Lambda can make one that they accept. On another machine, it says so in one line and
 * adds none: the functions run without it, but start slower.
 */
export const addCodeCaches = async (
  functionNames: readonly string[],
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
  const environment = functionEnvironment(`http://127.0.0.1:${port}`);
  for (const name of functionNames) {
    const directory = bundleDirectory(name);
    const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
    const cache = await makeCodeCache({ directory, name, environment });
    await replaceFile(join(directory, codeCacheFile(name, bundle)), cache);
  }
};

/** The environment that Lambda and the stack give a function, with an endpoint for DynamoDB. */
export const functionEnvironment = (dynamodbEndpoint: string): Record<string, string> => ({
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'ASIASTANDIN',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'token',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: 'function',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  TZ: ':UTC',
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
  PETS_TABLE: 'Pets',
  KEYS_TABLE: 'Keys',
  API_KEY_PREFIX: 'pets_test',
  SERVICE_NAME: 'animal-store',
});

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

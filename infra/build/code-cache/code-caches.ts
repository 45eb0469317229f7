import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { directEvent } from '../../../lib/gateway-events/direct-event.ts';
import { generateApiKey } from '../../../lib/keys/api-key.ts';
import { detailsOf, operations } from '../../../lib/operations/operations.ts';
import { bundleName, functionNames } from '../../settings/names.ts';
import { bundleDirectory, codeCacheFile, replaceFile } from '../bundle-functions.ts';
import { functionEnvironment } from '../function-environment.ts';
import { projectDirectory } from '../project-directory.ts';
import { cannedResponses } from './canned-responses.ts';

/** Lambda's machines, on which the functions run (`infra/constructs/bundled-function.ts`). */
const lambdaMachine = 'linux-arm64';

/**
 * Adds V8's code cache to the folder of each function of the API. Only a machine like those of Lambda can
 * make a cache that they accept. Where there is none, because the machine is another or a function fails,
 * says so in one line: the function runs without it, but starts slower.
 */
export const addCodeCaches = async (machine = lambdaMachine): Promise<void> => {
  if (`${process.platform}-${process.arch}` !== machine) {
    console.error(`The functions get no code cache, and start slower: this is not ${machine}.`);
    return;
  }
  for (const functionName of functionNames) {
    const name = bundleName(functionName);
    const directory = bundleDirectory(name);
    try {
      const cache = await makeCodeCache(join(directory, `${name}.mjs`), functionName);
      const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
      await replaceFile(join(directory, codeCacheFile(name, bundle)), cache);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      console.error(`${name} gets no code cache, and starts slower: ${reason}`);
    }
  }
};

/**
 * Flags under which the same bundle makes the same bytes, also on a busy machine, where calls could time out.
 * V8 accepts the cache without them.
 */
const reproducible = [
  ...['--predictable', '--random-seed=1'],
  ...['--require', join(projectDirectory, 'infra/build/stretch-timeouts.cjs')],
];

/**
 * Makes V8's code cache of a function for this machine and the Node.js that runs this, from the entry module
 * of the function. The cache has what the function compiles until it has handled the example of an operation,
 * or until it is initialised if there is no operation of this name. Throws an Error with the reason when the
 * function fails, or takes longer than `timeoutMs`.
 */
export const makeCodeCache = async (
  entryModule: string,
  name: string,
  timeoutMs = 60_000,
): Promise<Buffer> => {
  const apiKey = generateApiKey('pets_test');
  await using dynamodb = await startDynamodb(apiKey);
  const { endpoint } = dynamodb;
  // No client of another service reaches AWS.
  const env = { ...functionEnvironment(endpoint), AWS_ENDPOINT_URL: endpoint };
  await using output = await mkdtempDisposable(join(tmpdir(), 'animal-store-code-cache-'));
  const file = join(output.path, 'cache');
  const script = join(import.meta.dirname, 'make-code-cache.mjs');
  const onLambda = `/var/task/${basename(entryModule, '.mjs')}.cjs`;
  const event = JSON.stringify(exampleEvent(name, apiKey) ?? null);
  const words = [...reproducible, script, entryModule, onLambda, file, event];
  try {
    // A function can ignore SIGTERM.
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    await promisify(execFile)(process.execPath, words, { env, ...limits });
  } catch (error) {
    if (error instanceof Error && 'killed' in error && error.killed) {
      throw new Error(`its example takes longer than ${timeoutMs / 1_000} s`, { cause: error });
    }
    const printed = error instanceof Error && 'stderr' in error ? `${error.stderr}`.trim() : '';
    throw new Error(printed || `${error}`, { cause: error });
  }
  return await readFile(file);
};

/** Starts a server in the place of DynamoDB, which has one API key. */
const startDynamodb = async (apiKey: string) => {
  const respond = cannedResponses(apiKey);
  const server = createServer((request, response) => {
    text(request)
      .then((body) => response.end(respond(`${request.headers['x-amz-target']}`, body).body))
      .catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

/** Returns the example of an operation as the event that its function gets. */
const exampleEvent = (name: string, apiKey: string) => {
  const operation = operations.find((each) => each.name === name);
  if (!operation) return undefined;
  const { request } = detailsOf(operation.name).example;
  return directEvent(operation, request, { Authorization: `Bearer ${apiKey}` });
};

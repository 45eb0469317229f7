import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { bundleName, functionNames } from '../settings/names.ts';
import { bundleDirectory, codeCacheFile, replaceFile } from './bundle-functions.ts';
import { functionEnvironment } from './function-environment.ts';

/** Lambda's machines, on which the functions run (`infra/constructs/bundled-function.ts`). */
const lambdaMachine = 'linux-arm64';

/**
 * Adds V8's code cache to the folder of each function of the API. Only a machine like those of Lambda can
 * make a cache that they accept. Where there is none, because the machine is another or a function fails,
 * says so in one line: the function runs without it, but starts slower. Returns whether each has a cache.
 */
export const addCodeCaches = async (machine = lambdaMachine): Promise<boolean> => {
  if (`${process.platform}-${process.arch}` !== machine) {
    console.error(`The functions get no code cache, and start slower: this is not ${machine}.`);
    return false;
  }
  let areComplete = true;
  for (const name of functionNames.map(bundleName)) {
    const directory = bundleDirectory(name);
    try {
      const cache = await makeCodeCache(join(directory, `${name}.mjs`));
      const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
      await replaceFile(join(directory, codeCacheFile(name, bundle)), cache);
    } catch (error) {
      console.error(`${name} gets no code cache, and starts slower: ${error}`);
      areComplete = false;
    }
  }
  return areComplete;
};

/** An endpoint at which nothing listens, so that no function reaches AWS, and each call fails at once. */
const noEndpoint = 'http://127.0.0.1:9';

const script = join(import.meta.dirname, 'make-code-cache.mjs');

/**
 * Makes V8's code cache of a function for this machine and the Node.js that runs this, from the entry module
 * of the function. The cache has what the function compiles until it is initialised, which is nearly all that
 * a request needs. Throws what the function throws, or an Error if it ends, or takes longer than `limitMs`.
 */
export const makeCodeCache = async (entryModule: string, limitMs = 60_000): Promise<Buffer> => {
  const env = { ...functionEnvironment(noEndpoint), AWS_ENDPOINT_URL: noEndpoint };
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  // The timer also keeps this process, which would end silently if the worker only waited.
  const timer = setTimeout(
    () => reject(new Error(`its initialisation takes longer than ${limitMs / 1_000} s`)),
    limitMs,
  );
  const worker = new Worker(script, { env, workerData: entryModule })
    .once('message', resolve)
    .once('error', reject)
    .once('exit', () => reject(new Error('it ends before it is initialised')));
  try {
    return Buffer.from(await promise);
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
};

/**
 * Returns what a code cache that is made now depends on, besides the bundle and the version of Node.js, which
 * are in the name of its file: the program that makes it, and V8's flags, which `NODE_OPTIONS` can set.
 */
export const codeCacheMaker = (): string => `${readFileSync(script)} ${cachedDataVersionTag()}`;

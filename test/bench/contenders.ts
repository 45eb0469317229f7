import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { bundleFunctions, bundleOptions } from '../../infra/build/bundle-functions.ts';
import { goldenRequestsOf } from '../../infra/build/code-cache/add-code-caches.ts';
import { makeCodeCache } from '../../infra/build/code-cache/make-code-cache.ts';
import { codeCacheFile, entryModule } from '../../infra/build/entry-module.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { type RequestName, requests } from './requests.ts';
import { startTlsStandIn } from './tls-stand-in.ts';

/** The function that handles each request. */
export const functionNames: Readonly<Record<RequestName, string>> = {
  getPet: 'get-pet',
  createPet: 'create-pet',
  listPets: 'list-pets',
  listPetsOf100: 'list-pets',
};

/** The frameworks that the service is compared with. */
export const peerNames = ['hono', 'powertools'] as const;

/**
 * All but the empty handler, which is subtracted, in the order in which they are shown: those with V8's
 * code cache first. The service is measured with a cache that V8 uses, with one that it rejects, and
 * without.
 */
export const measuredNames = [
  'bareCached',
  'sdkCallCached',
  'hit',
  'bare',
  'sdkCall',
  'absent',
  'rejected',
  ...peerNames,
] as const;
export type ContenderName = 'empty' | (typeof measuredNames)[number];

/** What V8 does with the code cache of a contender that has one, or of the service. */
export const expectedCodeCache: Partial<Readonly<Record<ContenderName, string>>> = {
  bareCached: 'hit',
  sdkCallCached: 'hit',
  hit: 'hit',
  absent: 'absent',
  rejected: 'rejected',
};

/** For each program the file that Lambda loads for a request. */
export type Contenders = Readonly<Record<ContenderName, (request: RequestName) => string>>;

interface ContenderOptions {
  /** Whether to build the frameworks, from the packages of test/bench/package.json. */
  readonly peers: boolean;
  /** The flags of Node.js for which the code caches are made. */
  readonly flags: readonly string[];
}

/** Builds the service, and what it is compared with, into a directory. */
export const buildContenders = async (
  outdir: string,
  { peers, flags }: ContenderOptions,
): Promise<Contenders> => {
  await bundleFunctions();
  const others = ['bare', 'empty', 'sdk-call'].map((name) =>
    join(import.meta.dirname, `${name}.ts`),
  );
  await build({
    ...bundleOptions,
    // The functions are built too, because the plugins fail when a module that they leave out is missing.
    entryPoints: ['functions/*.ts', ...others],
    entryNames: '[name]',
    outdir,
  });
  // As their users build them: with esbuild's defaults.
  const { absWorkingDir, platform, outExtension } = bundleOptions;
  if (peers) {
    await build({
      ...{ absWorkingDir, platform, outExtension, bundle: true, minify: true },
      entryPoints: peerNames.map((name) => join(import.meta.dirname, 'peers', `${name}.ts`)),
      outdir,
    });
  }

  await using standIn = await startTlsStandIn();
  const { apiKey, environment } = standIn;
  /**
   * Writes a bundle with its entry module, and the cache that Node.js makes with these flags, into a
   * folder.
   */
  const deploy = async (variant: string, name: string, cache?: CacheParts) => {
    const directory = join(outdir, variant, name);
    const code = await readFile(join(outdir, `${name}.cjs`), 'utf8');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${name}.cjs`), code);
    await writeFile(join(directory, `${name}.mjs`), entryModule(name, code));
    if (!cache) return;
    const { events, flags } = cache;
    const options = { directory, name, environment, events, node: [process.execPath, ...flags] };
    await writeFile(join(directory, codeCacheFile(name, code)), await makeCodeCache(options));
  };
  const allRequests = Object.values(requests(apiKey));
  await deploy('cached', 'bare', { events: allRequests, flags });
  await deploy('cached', 'sdk-call', { events: allRequests, flags });
  for (const { functionName, event } of goldenRequestsOf(apiKey)) {
    const name = bundleName(functionName);
    await deploy('hit', name, { events: [event], flags });
    // Without `--expose-gc`, V8's flags are others.
    await deploy('rejected', name, { events: [event], flags: [] });
    await deploy('absent', name);
  }

  const plain = (name: string) => () => join(outdir, `${name}.cjs`);
  const cached = (name: string) => () => join(outdir, 'cached', name, `${name}.mjs`);
  const service = (variant: string) => (request: RequestName) =>
    join(outdir, variant, functionNames[request], `${functionNames[request]}.mjs`);
  return {
    empty: plain('empty'),
    bare: plain('bare'),
    bareCached: cached('bare'),
    sdkCall: plain('sdk-call'),
    sdkCallCached: cached('sdk-call'),
    hit: service('hit'),
    absent: service('absent'),
    rejected: service('rejected'),
    hono: plain('hono'),
    powertools: plain('powertools'),
  };
};

interface CacheParts {
  readonly events: readonly unknown[];
  readonly flags: readonly string[];
}

/** The bytes that each source file adds to the bundle of each function. */
export const bytesBySource = async () => {
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: ['functions/*.ts'],
    outdir: 'unwritten',
    write: false,
    metafile: true,
  });
  return Object.fromEntries(
    Object.entries(metafile.outputs).map(([file, { inputs }]) => {
      const sources = Object.entries(inputs).map(([path, input]) => [path, input.bytesInOutput]);
      return [basename(file, '.cjs'), Object.fromEntries(sources.filter(([, bytes]) => bytes))];
    }),
  );
};

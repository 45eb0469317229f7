import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { bundleFunctions, bundleOptions } from '../../infra/build/bundle-functions.ts';
import { makeCodeCache } from '../../infra/build/code-caches.ts';
import { codeCacheFile, entryModule } from '../../infra/build/entry-module.ts';
import type { RequestName } from './requests.ts';
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
}

/** Builds the service, and what it is compared with, into a directory. */
export const buildContenders = async (
  outdir: string,
  { peers }: ContenderOptions,
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
  const { environment } = standIn;
  /** Writes a bundle with its entry module into a folder, and a cache that this function may change. */
  const deploy = async (variant: string, name: string, change?: (cache: Buffer) => Buffer) => {
    const directory = join(outdir, variant, name);
    const code = await readFile(join(outdir, `${name}.cjs`), 'utf8');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${name}.cjs`), code);
    await writeFile(join(directory, `${name}.mjs`), entryModule(name, code));
    if (!change) return;
    const cache = await makeCodeCache({ directory, name, environment });
    await writeFile(join(directory, codeCacheFile(name, code)), change(cache));
  };
  const unchanged = (cache: Buffer) => cache;
  await deploy('cached', 'bare', unchanged);
  await deploy('cached', 'sdk-call', unchanged);
  for (const name of [...new Set(Object.values(functionNames)), 'unrouted']) {
    await deploy('hit', name, unchanged);
    // As if another version of V8 had made it: the 4 bytes after the first 4 name the version.
    await deploy('rejected', name, (cache) => cache.fill(cache.readUInt8(4) ^ 1, 4, 5));
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

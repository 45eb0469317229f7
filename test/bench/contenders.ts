import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import {
  bundle,
  bundleDirectory,
  bundleFunctions,
  bundleOptions,
} from '../../infra/build/bundle-functions.ts';
import type { RequestName } from './requests.ts';

/** The function that handles each request. */
export const functionNames: Readonly<Record<RequestName, string>> = {
  getPet: 'get-pet',
  createPet: 'create-pet',
  listPets: 'list-pets',
  listPetsOf100: 'list-pets',
};

/** The frameworks that the service is compared with. */
export const peerNames = ['hono', 'powertools'] as const;

const ownNames = ['bare', 'sdkCall', 'service', 'notWarmedUp', 'ordinary'] as const;

/** All but the empty handler, which is subtracted, in the order in which they are shown. */
export const measuredNames: readonly Exclude<ContenderName, 'empty'>[] = [
  ...ownNames,
  ...peerNames,
];
export type ContenderName = 'empty' | (typeof ownNames)[number] | (typeof peerNames)[number];

/** For each program the file that Lambda loads for a request. */
export type Contenders = Readonly<Record<ContenderName, (request: RequestName) => string>>;

/**
 * Builds the service, and what it is compared with, into a directory. Peers are built from the packages of
 * test/bench/package.json.
 */
export const buildContenders = async (
  outdir: string,
  { peers }: { readonly peers: boolean },
): Promise<Contenders> => {
  await bundleFunctions();
  const others = ['bare', 'empty', 'sdk-call', ...(peers ? ['peers/*'] : [])].map((name) =>
    join(import.meta.dirname, `${name}.ts`),
  );
  const bundles = await bundle({
    // The functions are built too, because the plugins fail when a module that they leave out is missing.
    entryPoints: ['functions/*.ts', ...others],
    entryNames: '[name]',
    outdir,
  });
  for (const { path, code } of bundles) await writeFile(path, code);
  // Built with esbuild's defaults.
  const { absWorkingDir, platform, outExtension } = bundleOptions;
  await build({
    ...{ absWorkingDir, platform, outExtension, bundle: true, minify: true },
    entryPoints: ['functions/*.ts'],
    outdir: join(outdir, 'ordinary'),
  });

  const deployed = (extension: string) => (request: RequestName) =>
    join(bundleDirectory(functionNames[request]), `${functionNames[request]}.${extension}`);
  const other = (file: string) => () => join(outdir, `${file}.cjs`);
  return {
    empty: other('empty'),
    bare: other('bare'),
    sdkCall: other('sdk-call'),
    service: deployed('mjs'),
    notWarmedUp: deployed('cjs'),
    ordinary: (request) => join(outdir, 'ordinary', `${functionNames[request]}.cjs`),
    hono: other('hono'),
    powertools: other('powertools'),
  };
};

/** The bytes that each source file adds to the bundle of each function, before swc minifies it further. */
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

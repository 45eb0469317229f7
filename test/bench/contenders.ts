import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../infra/build/bundle-functions.ts';
import { makeCodeCache } from '../../infra/build/code-caches.ts';
import { codeCacheFile, entryModule } from '../../infra/build/entry-module.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import type { RequestName } from './requests.ts';

/** The function of this service that handles each request. */
const functionNames: Readonly<Record<RequestName, string>> = {
  getPet: 'get-pet',
  createPet: 'create-pet',
  listPets: 'list-pets',
};

/** This service, and what it is compared with, by the names of their sources in `programs/` and `peers/`. */
export type Program =
  | 'empty'
  | 'bare'
  | 'sdk-call'
  | 'service'
  | 'aws-lite'
  | 'hono'
  | 'powertools';

/**
 * How a program is built: with esbuild's defaults, or as this project builds its functions. A function of
 * this project has a code cache that V8 uses (`hit`), one that V8 rejects, or none.
 */
export type Build = 'defaults' | 'hit' | 'rejected' | 'absent';

/** Returns the file that Lambda loads for a request. */
export type Contenders = (program: Program, build: Build, request: RequestName) => string;

/**
 * Builds this service and `programs/` in every way into a folder, and `peers/`, for which the packages of
 * test/bench/package.json must be installed.
 */
export const buildContenders = async (
  outdir: string,
  options: { readonly peers: boolean },
): Promise<Contenders> => {
  const functions = Object.values(functionNames).map((name) => `functions/${name}.ts`);
  const sources = [...functions, 'test/bench/programs/*.ts'];
  if (options.peers) sources.push('test/bench/peers/*.ts', 'test/bench/peers/*.mjs');
  const { absWorkingDir, platform, entryNames, outExtension } = bundleOptions;
  await build({
    ...{ absWorkingDir, platform, entryNames, outExtension, bundle: true, minify: true },
    entryPoints: sources,
    outdir: join(outdir, 'defaults'),
  });
  await build({ ...bundleOptions, entryPoints: sources, outdir: join(outdir, 'absent') });

  await using standIn = await DynamodbStandIn.start();
  const { environment } = standIn;
  for (const name of await readdir(join(outdir, 'absent'))) {
    const directory = join(outdir, 'absent', name);
    const code = await readFile(join(directory, `${name}.cjs`), 'utf8');
    await writeFile(join(directory, `${name}.mjs`), entryModule(name, code));
    const cache = await makeCodeCache({ directory, name, environment });
    for (const kind of ['hit', 'rejected']) {
      await cp(directory, join(outdir, kind, name), { recursive: true });
      await writeFile(join(outdir, kind, name, codeCacheFile(name, code)), cache);
      // As if another version of V8 had made it: the 4 bytes after the first 4 name the version.
      cache.fill(cache.readUInt8(4) ^ 1, 4, 5);
    }
  }
  return (program, kind, request) => {
    const name = program === 'service' ? functionNames[request] : program;
    return join(outdir, kind, name, `${name}.${kind === 'defaults' ? 'cjs' : 'mjs'}`);
  };
};

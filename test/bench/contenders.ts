import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../infra/build/bundle-functions.ts';
import { makeCodeCache } from '../../infra/build/code-cache/code-caches.ts';
import { codeCacheFile, entryModule } from '../../infra/build/code-cache/entry-module.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { type RequestName, requestNames } from './requests.ts';

/** This service, and what it is compared with, by the names of their sources in `programs/`. */
export type Program = 'empty' | 'bare-sigv4' | 'sdk-call' | 'service';

/**
 * How a program is built: with esbuild's defaults, or as this project builds its functions. A function of
 * this project has a code cache that V8 uses (`hit`), one that V8 rejects, or none.
 */
export type Build = 'defaults' | 'hit' | 'rejected' | 'absent';

/** Returns the file that Lambda loads for a request. */
export type Contenders = (program: Program, build: Build, request: RequestName) => string;

/** Builds this service and `programs/` in every way into a folder. */
export const buildContenders = async (outdir: string): Promise<Contenders> => {
  const functions = requestNames.map((request) => `functions/${bundleName(request)}.ts`);
  const sources = [...functions, 'test/bench/programs/*.ts'];
  const { absWorkingDir, platform, entryNames, outExtension } = bundleOptions;
  await build({
    ...{ absWorkingDir, platform, entryNames, outExtension, bundle: true, minify: true },
    entryPoints: sources,
    outdir: join(outdir, 'defaults'),
  });
  await build({ ...bundleOptions, entryPoints: sources, outdir: join(outdir, 'absent') });
  for (const name of await readdir(join(outdir, 'absent'))) {
    const directory = join(outdir, 'absent', name);
    const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
    const module = join(directory, `${name}.mjs`);
    await writeFile(module, entryModule(name, bundle));
    // A function of the service handles one of the requests, and any other program handles each.
    const own = requestNames.filter((request) => bundleName(request) === name);
    for (const request of own.length > 0 ? own : requestNames) {
      const cache = await makeCodeCache(module, request);
      for (const build of ['hit', 'rejected'] as const) {
        const copy = join(outdir, `${build}-${request}`, name);
        await cp(directory, copy, { recursive: true });
        await writeFile(join(copy, codeCacheFile(name, bundle)), cache);
        // As if another version of V8 had made it: the 4 bytes after the first 4 name the version.
        cache.fill(cache.readUInt8(4) ^ 1, 4, 5);
      }
    }
  }
  return (program, build, request) => {
    const name = program === 'service' ? bundleName(request) : program;
    const hasCache = build === 'hit' || build === 'rejected';
    const folder = hasCache ? `${build}-${request}` : build;
    return join(outdir, folder, name, `${name}.${build === 'defaults' ? 'cjs' : 'mjs'}`);
  };
};

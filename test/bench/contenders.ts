import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import {
  bundleDirectory,
  bundleFunctions,
  bundleOptions,
  codeCacheFile,
  entryModule,
} from '../../infra/build/bundle-functions.ts';
import { makeCodeCache } from '../../infra/build/code-caches.ts';
import { bundleName, execWrapper } from '../../infra/settings/names.ts';
import { type RequestName, requestNames } from './measured-requests.ts';

/** This service, and what it is compared with, by the names of their sources in `programs/`. */
export type Program = 'empty' | 'bare-sigv4' | 'sdk-call' | 'service';

/**
 * How a program is built and started: as usual, with esbuild's defaults and by Lambda's own command, or as
 * this project deploys its functions. Or like those, but without the wrapper, so that V8 rejects the code
 * cache, or without a code cache, as a build on a machine unlike Lambda's makes them.
 */
export type Build = 'usual' | 'deployed' | 'no-wrapper' | 'no-cache';

/** A program as Lambda starts it. */
export interface Contender {
  /** The file that Lambda loads. */
  readonly module: string;
  /** The script that starts Node.js, if Lambda does not do it itself. */
  readonly wrapper?: string;
  /** What V8 does with the code cache, if the program looks for one. */
  readonly codeCache?: 'hit' | 'rejected' | 'absent';
}

/** Returns a program for a request. */
export type Contenders = (program: Program, build: Build, request: RequestName) => Contender;

/** Builds this service and `programs/` in every way into a folder. */
export const buildContenders = async (outdir: string): Promise<Contenders> => {
  const functions = requestNames.map((request) => `functions/${bundleName(request)}.ts`);
  const entryPoints = [...functions, 'test/bench/programs/*.ts'];
  const { absWorkingDir, platform, entryNames, outExtension } = bundleOptions;
  const usual = { absWorkingDir, platform, entryNames, outExtension, bundle: true, minify: true };
  await build({ ...usual, entryPoints, outdir: join(outdir, 'usual') });
  await build({ ...bundleOptions, entryPoints, outdir: join(outdir, 'no-cache') });
  for (const name of await readdir(join(outdir, 'no-cache'))) {
    const directory = join(outdir, 'no-cache', name);
    const bundle = await readFile(join(directory, `${name}.cjs`), 'utf8');
    const module = join(directory, `${name}.mjs`);
    await writeFile(module, entryModule(name, bundle));
    const copy = join(outdir, 'deployed', name);
    await cp(directory, copy, { recursive: true });
    await writeFile(join(copy, codeCacheFile(name, bundle)), await makeCodeCache(module));
  }
  await bundleFunctions();
  const wrapper = join(bundleDirectory(bundleName('getPet')), execWrapper);
  return (program, how, request) => {
    const name = program === 'service' ? bundleName(request) : program;
    const module = join(outdir, 'deployed', name, `${name}.mjs`);
    switch (how) {
      case 'usual':
        return { module: join(outdir, 'usual', name, `${name}.cjs`) };
      case 'deployed':
        return { module, wrapper, codeCache: 'hit' };
      case 'no-wrapper':
        return { module, codeCache: 'rejected' };
      case 'no-cache':
        return {
          module: join(outdir, 'no-cache', name, `${name}.mjs`),
          wrapper,
          codeCache: 'absent',
        };
    }
  };
};

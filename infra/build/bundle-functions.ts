import { randomUUID } from 'node:crypto';
import { glob, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { transform } from '@swc/core';
import { type BuildOptions, build } from 'esbuild';
import { projectDirectory } from '../project-directory.ts';
import { entryModule } from './entry-module.ts';
import { leaveOutModules } from './left-out-modules.ts';

const buildDirectory = join(projectDirectory, '.build');
const bundlesDirectory = join(buildDirectory, 'functions');

/** Where the deployed files of a function are: one folder for each, which has nothing else. */
export const bundleDirectory = (functionName: string) => join(bundlesDirectory, functionName);

/** The source map of a function's bundle. */
export const sourceMapFile = (name: string) => join(buildDirectory, 'maps', `${name}.cjs.map`);

/** How esbuild bundles a function, with the SDK inside: other settings made it start slower. */
export const bundleOptions = {
  absWorkingDir: projectDirectory,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  // CommonJS loads Node's own modules without the whole of undici (nodejs/node#57649).
  format: 'cjs',
  // A `vm.Script` can't import, so `import()` becomes `require()`.
  supported: { 'dynamic-import': false },
  outExtension: { '.js': '.cjs' },
  mainFields: ['module', 'main'],
  plugins: [leaveOutModules],
} satisfies BuildOptions;

/**
 * Bundles functions for Lambda; esbuild's `outdir` and `entryNames` set the paths. Returns
 * their code and source maps.
 */
export const bundle = async (options: BuildOptions) => {
  const output = { sourcemap: 'inline', write: false } as const;
  const { outputFiles } = await build({ ...bundleOptions, ...options, ...output });
  return Promise.all(
    outputFiles.map(async ({ path, text }) => ({ path, ...(await minify(text)) })),
  );
};

/**
 * Minifies a bundle further: unlike esbuild, swc drops data that nothing reads, such
 * as the partitions of AWS.
 */
const minify = (code: string) =>
  transform(code, {
    isModule: 'commonjs',
    minify: true,
    sourceMaps: true,
    // The inline map of `code`.
    inputSourceMap: true,
    jsc: { target: 'esnext', minify: { compress: { toplevel: true }, mangle: { toplevel: true } } },
  });

/**
 * Bundles each file of `functions/` and `functions/checks/` as it runs on Lambda: `<name>.cjs`,
 * and `<name>.mjs` with the export `handler`. Source maps stay in `.build/maps`: loading them
 * costs time at every start.
 */
export const bundleFunctions = async (): Promise<void> => {
  const output = { outdir: bundlesDirectory, entryNames: '[name]/[name]' };
  const [functions, checks] = await Promise.all([
    bundle({ ...output, entryPoints: ['functions/*.ts'] }),
    // With the whole SDK: its other clients need what the functions leave out, such as endpoints. The SDK is
    // bundled here too, so that the tested version runs: Lambda's own copy changes by itself.
    // https://docs.aws.amazon.com/lambda/latest/dg/lambda-nodejs.html
    bundle({ ...output, plugins: [], entryPoints: ['functions/checks/*.ts'] }),
  ]);
  const names = new Set<string>();
  for (const { path, code, map = '' } of [...functions, ...checks]) {
    const name = basename(path, '.cjs');
    names.add(name);
    // Before the bundle, so that the entry module of another bundle never finds it.
    await removeCodeCaches(bundleDirectory(name));
    await replaceFile(path, code);
    await replaceFile(sourceMapFile(name), map);
    await replaceFile(join(bundleDirectory(name), `${name}.mjs`), entryModule(name, code));
  }
  // Otherwise the stack would still deploy a function whose source was deleted.
  for (const name of await readdir(bundlesDirectory)) {
    if (!names.has(name)) await rm(bundleDirectory(name), { recursive: true, force: true });
  }
};

const removeCodeCaches = async (directory: string): Promise<void> => {
  for await (const file of glob(join(directory, '*.cache'))) await rm(file, { force: true });
};

/** Replaces a file in one step, because another start or a deployment may be reading it. */
const replaceFile = async (path: string, contents: string): Promise<void> => {
  // On the same file system, and in no folder that is deployed.
  const draft = join(buildDirectory, randomUUID());
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, contents);
  await rename(draft, path);
};

import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { projectDirectory } from '../project-directory.ts';
import { leaveOutModules } from './left-out-modules.ts';

const buildDirectory = join(projectDirectory, '.build');
const bundlesDirectory = join(buildDirectory, 'functions');
const mapsDirectory = join(buildDirectory, 'maps');

/** Where a function lies as it is deployed: one folder a function, which holds nothing else. */
export const bundleDirectory = (functionName: string) => join(bundlesDirectory, functionName);

/** The source map of a function's bundle. */
export const sourceMapFile = (functionName: string) =>
  join(mapsDirectory, `${functionName}.cjs.map`);

/** How a function is bundled for Lambda, SDK inside: whatever is built otherwise starts slower. */
export const bundleOptions = {
  absWorkingDir: projectDirectory,
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node24',
  // CommonJS loads Node's own modules without the whole of undici (nodejs/node#57649).
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  mainFields: ['module', 'main'],
  plugins: [leaveOutModules],
} satisfies BuildOptions;

/**
 * What Lambda loads of a function: the bundle, once it is initialised. An ES module, as Lambda awaits no other; the
 * bundle itself is none, as those load slower.
 */
export const entryModule = (
  name: string,
) => `const { createRequire } = process.getBuiltinModule('node:module');
const { handler, initialise } = createRequire(import.meta.url)('./${name}.cjs');
await initialise?.();
export { handler };
`;

/**
 * Bundles each file of `functions/` as it runs on Lambda: `<name>.cjs`, and `<name>.mjs` with the export `handler`.
 * Source maps go beside the bundles, to `.build/maps`: loading them in the function costs time at every start.
 */
export const bundleFunctions = async (): Promise<void> => {
  const { outputFiles } = await build({
    ...bundleOptions,
    entryPoints: ['functions/*.ts'],
    outdir: bundlesDirectory,
    entryNames: '[name]/[name]',
    sourcemap: 'external',
    write: false,
  });
  const fileNames = outputFiles.map(({ path }) => basename(path));
  const names = fileNames.flatMap((name) => /^(.+)\.cjs$/.exec(name)?.[1] ?? []);
  const entryModules = names.map((name) => ({
    path: join(bundleDirectory(name), `${name}.mjs`),
    contents: entryModule(name),
  }));
  await replaceFiles([...outputFiles, ...entryModules]);
  await keepOnly(mapsDirectory, fileNames);
  await keepOnly(bundlesDirectory, names);
};

/** Puts each file in its place as a whole, for another start or a deployment may read it at this moment. */
const replaceFiles = async (
  files: readonly { readonly path: string; readonly contents: string | Uint8Array }[],
): Promise<void> => {
  await mkdir(buildDirectory, { recursive: true });
  // On the same file system, and in no folder that is deployed.
  const drafts = await mkdtemp(join(buildDirectory, 'drafts-'));
  try {
    await Promise.all(
      files.map(async ({ path, contents }) => {
        const draft = join(drafts, basename(path));
        await writeFile(draft, contents);
        const target = path.endsWith('.map') ? join(mapsDirectory, basename(path)) : path;
        await mkdir(dirname(target), { recursive: true });
        await rename(draft, target);
      }),
    );
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
};

/** Removes what is left of functions that don't exist any more. */
const keepOnly = async (directory: string, names: readonly string[]): Promise<void> => {
  const left = (await readdir(directory)).filter((name) => !names.includes(name));
  await Promise.all(
    left.map((name) => rm(join(directory, name), { recursive: true, force: true })),
  );
};

import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { projectDirectory } from '../project-directory.ts';
import { leaveOutModules } from './left-out-modules.ts';

const buildDirectory = join(projectDirectory, '.build');
const bundlesDirectory = join(buildDirectory, 'functions');
const mapsDirectory = join(buildDirectory, 'maps');

/** Where the deployed files of a function are: one folder a function, which holds nothing else. */
export const bundleDirectory = (functionName: string) => join(bundlesDirectory, functionName);

/** The source map of a function's bundle. */
export const sourceMapFile = (functionName: string) =>
  join(mapsDirectory, `${functionName}.cjs.map`);

/** How a function is bundled for Lambda, with the SDK inside: other settings made it start slower. */
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

const entryNames = '[name]/[name]';

/** The functions that serve no request of a client, by the names of their bundles. */
const checks = {
  'before-traffic': 'infra/lambda/before-traffic-handler.ts',
  probe: 'infra/monitoring/probe-handler.ts',
};

/**
 * Bundles each file of `functions/`, and the stack's own checks, as they run on Lambda: `<name>.cjs`, and `<name>.mjs`
 * with the export `handler`. Source maps go beside the bundles, to `.build/maps`: loading them in the function costs
 * time at every start.
 */
export const bundleFunctions = async (): Promise<void> => {
  const output = { outdir: bundlesDirectory, sourcemap: 'external', write: false } as const;
  const [functions, others] = await Promise.all([
    build({ ...bundleOptions, ...output, entryPoints: ['functions/*.ts'], entryNames }),
    // With the whole SDK: what functions leave out, such as endpoints, its other clients need. Bundled as well, so that
    // the tested version is the one that runs: Lambda's own changes by itself.
    // https://docs.aws.amazon.com/lambda/latest/dg/lambda-nodejs.html
    build({ ...bundleOptions, ...output, plugins: [], entryPoints: checks, entryNames }),
  ]);
  const outputFiles = [...functions.outputFiles, ...others.outputFiles];
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

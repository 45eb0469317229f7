import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';

const projectDirectory = join(import.meta.dirname, '..');
const buildDirectory = join(projectDirectory, '.build');

/** Where the bundle of a function lies: one folder a function, which holds nothing else. */
export const bundleDirectory = (functionName: string) =>
  join(buildDirectory, 'functions', functionName);

/**
 * Bundles each file of `functions/` as it runs on Lambda: CommonJS, SDK inside, `<name>.cjs` with its export `handler`.
 * Source maps go beside the bundles, to `.build/maps`: loading them in the function costs time at every start.
 */
export const bundleFunctions = async (): Promise<void> => {
  const { outputFiles } = await build({
    absWorkingDir: projectDirectory,
    entryPoints: ['functions/*.ts'],
    outdir: join(buildDirectory, 'functions'),
    entryNames: '[name]/[name]',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    // CommonJS loads Node's own modules without the whole of undici (nodejs/node#57649).
    format: 'cjs',
    mainFields: ['module', 'main'],
    sourcemap: 'external',
    write: false,
  });
  await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      const isMap = path.endsWith('.map');
      const target = isMap ? join(buildDirectory, 'maps', basename(path)) : path;
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, contents);
    }),
  );
};

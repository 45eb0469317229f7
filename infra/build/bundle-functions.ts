import { randomUUID } from 'node:crypto';
import { chmod, glob, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { execWrapper } from '../settings/names.ts';
import { nodeMajorVersion } from '../settings/node-version.ts';
import { entryModule } from './code-cache/entry-module.ts';
import { projectDirectory } from './project-directory.ts';

const buildDirectory = join(projectDirectory, '.build');
const bundlesDirectory = join(buildDirectory, 'functions');

/** Returns the folder with the deployed files of a function. It contains nothing else. */
export const bundleDirectory = (functionName: string) => join(bundlesDirectory, functionName);

/** The options with which esbuild bundles a check into `<name>/<name>.cjs` of a folder, including the SDK. */
const checkBundleOptions = {
  absWorkingDir: projectDirectory,
  bundle: true,
  minify: true,
  platform: 'node',
  target: `node${nodeMajorVersion}`,
  // In CommonJS, Node's own modules are loaded without the whole of undici (nodejs/node#57649).
  format: 'cjs',
  // A `vm.Script` can't import, so `import()` becomes `require()`.
  supported: { 'dynamic-import': false },
  outdir: bundlesDirectory,
  entryNames: '[name]/[name]',
  outExtension: { '.js': '.cjs' },
  mainFields: ['module', 'main'],
  alias: { '@aws-sdk/credential-provider-node': './lib/aws/default-credentials.ts' },
} satisfies BuildOptions;

/**
 * The modules that replace those of the SDK in each function of `functions/`. A client that needs event streams,
 * such as that of Lambda or S3, fails to build with them. To use one, remove the line of event streams.
 */
const functionAliases = {
  ...checkBundleOptions.alias,
  '@smithy/core/event-streams': './lib/aws/no-event-streams.ts',
};

/** The options with which esbuild bundles a function. With other settings it started slower. */
export const bundleOptions = {
  ...checkBundleOptions,
  alias: functionAliases,
} satisfies BuildOptions;

/**
 * Bundles each file of `functions/` and `functions/checks/` as it runs on Lambda, into `<name>.cjs` and
 * `<name>.mjs`, which exports `handler`. Beside a bundle of `functions/` are its source map `<name>.cjs.map`,
 * which lib/telemetry/cause.ts reads when a defect is logged, and the script that starts Node.js.
 */
export const bundleFunctions = async (): Promise<void> => {
  const options = { ...bundleOptions, write: false } as const;
  // Paths in a source map are relative, so it has the same bytes wherever it is made.
  const sourceMap = { sourcemap: 'external', sourcesContent: false } as const;
  const [functions, checks] = await Promise.all([
    build({ ...options, ...sourceMap, entryPoints: ['functions/*.ts'] }),
    // The checks contain the SDK too, so that the tested version runs. Lambda's own copy changes by itself.
    // https://docs.aws.amazon.com/lambda/latest/dg/lambda-nodejs.html
    build({ ...checkBundleOptions, write: false, entryPoints: ['functions/checks/*.ts'] }),
  ]);
  const wrapper = await readFile(join(import.meta.dirname, 'code-cache', execWrapper), 'utf8');
  const names = new Set<string>();
  for (const file of [...functions.outputFiles, ...checks.outputFiles]) {
    const { path, text } = file;
    if (path.endsWith('.map')) {
      await replaceFile(path, text);
      continue;
    }
    const name = basename(path, '.cjs');
    const directory = bundleDirectory(name);
    names.add(name);
    // Before the bundle, so that the entry module of another bundle never finds it.
    await removeCodeCaches(directory);
    await replaceFile(path, text);
    await replaceFile(join(directory, `${name}.mjs`), entryModule(name, text));
    if (functions.outputFiles.includes(file))
      await replaceFile(join(directory, execWrapper), wrapper, 0o755);
  }
  // Otherwise the stack would still deploy a function whose source was deleted.
  for (const name of await readdir(bundlesDirectory)) {
    if (!names.has(name)) await rm(bundleDirectory(name), { recursive: true, force: true });
  }
};

const removeCodeCaches = async (directory: string): Promise<void> => {
  for await (const file of glob(join(directory, '*.cache'))) await rm(file, { force: true });
};

/**
 * Replaces a file in one step, because a function, another start or a deployment may be reading it. With any
 * umask, every user may read the file and its folder. Lambda needs this, because the zip file keeps the
 * permissions.
 * https://repost.aws/knowledge-center/lambda-deployment-package-errors
 */
export const replaceFile = async (
  path: string,
  contents: string | Buffer,
  mode = 0o644,
): Promise<void> => {
  // The draft is on the same file system, in a folder that is not deployed.
  const draft = join(buildDirectory, randomUUID());
  await mkdir(dirname(path), { recursive: true });
  await chmod(dirname(path), 0o755);
  await writeFile(draft, contents);
  await chmod(draft, mode);
  await rename(draft, path);
};

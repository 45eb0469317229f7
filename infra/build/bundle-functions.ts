import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build, type OutputFile } from 'esbuild';
import { execWrapper } from '../settings/names.ts';
import { nodeMajorVersion } from '../settings/node-version.ts';
import { projectDirectory } from './project-directory.ts';

const buildDirectory = join(projectDirectory, '.build');
const bundlesDirectory = join(buildDirectory, 'functions');

/** Returns the folder with the deployed files of a function. It contains nothing else. */
export const bundleDirectory = (functionName: string) => join(bundlesDirectory, functionName);

/**
 * Returns the source of `<name>.mjs`, which Lambda loads, and which loads the bundle beside it. It is an ES
 * module, because Lambda awaits the initialisation of no other. To import a bundle instead, Node.js would
 * first search it for its exports, which takes 1 % of a cold start.
 */
export const entryModule = (name: string): string => `import { createRequire } from 'node:module';
const bundle = createRequire(import.meta.url)('./${name}.cjs');
await bundle.initialise?.();
export const { handler } = bundle;
`;

/**
 * The options with which esbuild bundles a function of `functions/self-check/`, including the SDK, into
 * `<name>/<name>.cjs` of a folder.
 */
const selfCheckOptions = {
  absWorkingDir: projectDirectory,
  bundle: true,
  minify: true,
  platform: 'node',
  target: `node${nodeMajorVersion}`,
  // In CommonJS, Node's own modules are loaded without the whole of undici (nodejs/node#57649).
  format: 'cjs',
  outdir: bundlesDirectory,
  entryNames: '[name]/[name]',
  outExtension: { '.js': '.cjs' },
  mainFields: ['module', 'main'],
  alias: { '@aws-sdk/credential-provider-node': './infra/build/default-credentials.ts' },
} satisfies BuildOptions;

/**
 * The modules that replace those of the SDK in each function of `functions/`. A client that needs event
 * streams, such as that of Lambda or S3, fails to build with them. To use one, remove the line of event
 * streams.
 */
const functionAliases = {
  ...selfCheckOptions.alias,
  '@smithy/core/event-streams': './infra/build/no-event-streams.ts',
};

/** The options with which esbuild bundles a function. With other settings it started slower. */
export const bundleOptions = {
  ...selfCheckOptions,
  alias: functionAliases,
} satisfies BuildOptions;

/**
 * Bundles each file of `functions/` and `functions/self-check/` as it runs on Lambda, into `<name>.cjs` and
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
    build({ ...selfCheckOptions, write: false, entryPoints: ['functions/self-check/*.ts'] }),
  ]);
  const files = [...functions.outputFiles, ...checks.outputFiles];
  await writeBundles(files);
  const wrapper = await readFile(join(import.meta.dirname, execWrapper), 'utf8');
  for (const directory of foldersOf(functions.outputFiles))
    await replaceFile(join(directory, execWrapper), wrapper, 0o755);
  // Otherwise the stack would still deploy a function whose source was deleted.
  const folders = foldersOf(files);
  for (const name of await readdir(bundlesDirectory)) {
    const directory = bundleDirectory(name);
    if (!folders.has(directory)) await rm(directory, { recursive: true, force: true });
  }
};

const foldersOf = (files: readonly OutputFile[]) => new Set(files.map(({ path }) => dirname(path)));

/** Writes bundles and their source maps, and beside each bundle the module that Lambda loads. */
export const writeBundles = async (files: readonly OutputFile[]): Promise<void> => {
  for (const { path, text } of files) {
    await replaceFile(path, text);
    if (path.endsWith('.map')) continue;
    const name = basename(path, '.cjs');
    await replaceFile(join(dirname(path), `${name}.mjs`), entryModule(name));
  }
};

/**
 * Replaces a file in one step, because a function, another start or a deployment may be reading it. With any
 * umask, every user may read the file and its folder. Lambda needs this, because the zip file keeps the
 * permissions.
 * https://repost.aws/knowledge-center/lambda-deployment-package-errors
 */
const replaceFile = async (path: string, contents: string, mode = 0o644): Promise<void> => {
  // The draft is on the same file system, in a folder that is not deployed.
  const draft = join(buildDirectory, randomUUID());
  await mkdir(dirname(path), { recursive: true });
  await chmod(dirname(path), 0o755);
  await writeFile(draft, contents);
  await chmod(draft, mode);
  await rename(draft, path);
};

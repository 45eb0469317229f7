import { rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import inspector from 'node:inspector';
import { join } from 'node:path';
import type { BuildOptions, OutputFile } from 'esbuild';
import { bundleOptions } from '../build/bundle-functions.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { withAssembly } from '../build/with-assembly.ts';
import { buildSources } from './build-sources.ts';
import { startDynamodbLocal } from './dynamodb/dynamodb-local.ts';
import { type GatewayOptions, startGateway } from './gateway/gateway.ts';
import { LocalDeployment } from './local-deployment.ts';
import { localStage } from './local-stage.ts';
import { readStack, type StackDefinition } from './stack-definition.ts';

export interface LocalServiceOptions extends Partial<GatewayOptions> {
  /** The directory that keeps pets and keys between starts. Without it, they are kept in memory. */
  readonly data?: string;
  /** Whether to add a hundred animals. */
  readonly seed?: boolean;
  /** An origin whose web pages may call the service. */
  readonly cors?: string;
  /** A stack to run instead of the one that is synthesised for this machine. */
  readonly stack?: Promise<StackDefinition>;
  /** Whether to reload what has changed when a source file changes. */
  readonly watch?: boolean;
  /** Called with a line for each step. */
  readonly progress?: (step: string) => void;
}

/** The service as it runs on this machine. */
export type LocalService = Awaited<ReturnType<typeof startLocalService>>;

/**
 * Starts the service on this machine: DynamoDB Local with the template's tables, and the functions' bundles
 * behind a gateway with the template's routes. If the start fails, stops what was started and throws an error
 * with a message that says what to do.
 */
export const startLocalService = async (options: LocalServiceOptions = {}) => {
  const { port = 0, log = printUnlessRoutine, exchange } = options;
  const { data, seed, cors, watch = false, progress = () => {} } = options;
  await using resources = new AsyncDisposableStack();
  // The gateway starts first, so that a taken port is reported before the slow steps.
  const gateway = await startGateway({ port, log, exchange });
  resources.defer(gateway.stop);
  // No other service has this port, so none uses the folder.
  const folder = join(projectDirectory, '.build/local', new URL(gateway.origin).port);
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  removeFolder();
  process.once('exit', removeFolder);
  await mkdir(folder, { recursive: true }).catch(({ message }) => {
    // Node.js says ENOENT in a file system that is read-only.
    throw new Error(`The project can't be written: ${message}`);
  });

  progress('Starting DynamoDB Local and synthesising the stack');
  const database = startDynamodbLocal(data);
  resources.defer(async () => (await database.catch(() => undefined))?.stop());
  const deployment = new LocalDeployment({ gateway, database, folder, seed, log });
  resources.defer(deployment.stop);
  const useSynthesisedStack = async () => {
    const context = { cors, stage: localStage.name, bundles: 'none' };
    const read = (assembly: string) => readStack(assembly, localStage);
    const assembly = join(folder, 'stacks');
    const synthesised = await withAssembly(read, { context, assembly });
    const { uncalled } = synthesised;
    if (uncalled.length > 0)
      progress(`No route calls ${uncalled.join(', ')}, so nothing calls it on this machine`);
    return deployment.useStack(synthesised);
  };
  const build = <Result>(
    what: string,
    buildOptions: BuildOptions,
    use: (files: readonly OutputFile[]) => Promise<Result>,
  ) => buildSources({ what, build: buildOptions, watch, use, progress }, resources);
  const [{ endpoint, ended }, { stack, apiKey }] = await Promise.all([
    database,
    options.stack
      ? options.stack.then((stack) => deployment.useStack(stack))
      : build('stack', stackBuild, useSynthesisedStack),
    build('functions', functionsBuild(folder, watch), (files) => deployment.useBundles(files)),
  ]);
  const started = resources.move();
  return {
    /** The base address, which ends in the version segment. */
    baseAddress: `${gateway.origin}/${stack.api.stageName}`,
    /** The address of the reference page, with the API key. */
    docsAddress: `${gateway.origin}/docs/#api-key=${apiKey}`,
    /** A valid API key. */
    apiKey,
    dynamodbEndpoint: endpoint,
    /** Resolves when DynamoDB Local has ended, without which the service is of no use. */
    databaseEnded: ended,
    tables: stack.tables,
    stop: () => started.disposeAsync(),
  };
};

/**
 * The functions as they are deployed, with a source map. For a developer they are not minified, because an
 * error message names variables and properties as they are in the bundle.
 */
const functionsBuild = (outdir: string, isForDeveloper: boolean): BuildOptions => ({
  ...bundleOptions,
  entryPoints: ['functions/*.ts'],
  outdir,
  minify: !isForDeveloper,
  sourcemap: inspector.url() ? 'both' : 'external',
});

/** The sources of the stack. They are built only to notice their changes. A new process runs them. */
const stackBuild: BuildOptions = {
  absWorkingDir: projectDirectory,
  entryPoints: ['infra/app.ts'],
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
};

/**
 * Prints a line, unless it is the log of a request that was handled without a fault of the service. Fields
 * that a handler adds may come before the level.
 */
const printUnlessRoutine = (line: string) => {
  if (!line.includes('"level":"INFO"')) console.log(line);
};

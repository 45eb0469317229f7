import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { withAssembly } from '../build/build-stack.ts';
import { bundleOptions } from '../build/bundle-functions.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { startDynamodbLocal } from './dynamodb/dynamodb-local.ts';
import { type GatewayOptions, startGateway } from './gateway/gateway.ts';
import type { FunctionReports } from './lambda/lambda-function.ts';
import { localStage } from './local-account.ts';
import { LocalDeployment } from './local-deployment.ts';
import { readStack, type StackDefinition, withoutTimeLimits } from './stack-definition.ts';
import { watchSources } from './watch-sources.ts';

export interface LocalServiceOptions extends Partial<FunctionReports & GatewayOptions> {
  /** The directory that keeps pets and keys between starts. Without it, they are kept in memory. */
  readonly data?: string | undefined;
  /** Whether to remove all pets and keys from the directory first. */
  readonly reset?: boolean;
  /** Whether to add a hundred animals. */
  readonly seed?: boolean;
  /** An origin whose web pages may call the service. */
  readonly cors?: string;
  /** Whether the functions run for a debugger: as readable bundles, and without time limits. */
  readonly isInspected?: boolean;
  /** A stack to run instead of the one that is synthesised for this machine. */
  readonly stack?: Promise<StackDefinition>;
  /** Whether to reload what has changed when a source file changes. */
  readonly watch?: boolean;
  /** Called with a line for each step. */
  readonly progress?: (step: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** The service as it runs on this machine. */
export interface LocalService {
  /** The base address, which ends in the version segment. */
  readonly baseAddress: string;
  /** The address of the reference page, with the token in exchange for which the page gets the API key. */
  readonly docsAddress: string;
  /** A valid API key. */
  readonly apiKey: string;
  readonly dynamodbEndpoint: string;
  readonly tables: StackDefinition['tables'];
  readonly stop: () => Promise<void>;
}

/**
 * Starts the service on this machine: DynamoDB Local with the template's tables, and the functions' bundles
 * behind a gateway with the template's routes. If the start fails, stops what was started and throws an error
 * with a message that says what to do.
 */
export const startLocalService = async (
  options: LocalServiceOptions = {},
): Promise<LocalService> => {
  const resources = new AsyncDisposableStack();
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, ...(options.signal ? [options.signal] : [])]);
  const stop = () => {
    ending.abort();
    return resources.disposeAsync();
  };
  const { progress = () => {} } = options;
  try {
    return { ...(await start({ ...options, progress, signal }, resources)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

type ResolvedOptions = LocalServiceOptions & {
  readonly signal: AbortSignal;
  readonly progress: (step: string) => void;
};

const start = async (
  options: ResolvedOptions,
  resources: AsyncDisposableStack,
): Promise<Omit<LocalService, 'stop'>> => {
  const { log = printUnlessRoutine, exchange, failure, progress, signal } = options;
  const { cors, data, isInspected, reset, seed, throttle, watch = false } = options;
  // The gateway starts first, so that a taken port is reported before the slow steps.
  const gateway = await startGateway({ port: options.port ?? 0, log, exchange, throttle });
  resources.defer(gateway.stop);
  // No other service has this port, so none uses the folder.
  const folder = join(projectDirectory, '.build/local', new URL(gateway.origin).port);
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  await removeFolder();
  resources.defer(removeFolder);

  progress('Starting DynamoDB Local and synthesising the stack');
  const deployed = Promise.withResolvers<LocalDeployment>();
  deployed.promise.catch(() => {});
  signal.addEventListener('abort', () => deployed.reject(signal.reason));
  const common = { watch, progress, signal };
  const buildFunctions = () =>
    watchSources(
      {
        ...common,
        what: 'functions',
        build: functionsBuild(join(folder, 'bundles'), isInspected),
        replace: async (files) => (await deployed.promise).replaceBundles(files),
      },
      resources,
    );
  const synthesise = async () => {
    const context = { cors, stage: localStage.name, bundles: 'none' };
    const read = (assembly: string) => readStack(assembly, localStage);
    const stack = await withAssembly(read, { signal, context });
    return isInspected ? withoutTimeLimits(stack) : stack;
  };
  const synthesiseStack = async () => {
    const replace = async () => (await deployed.promise).replaceStack(await synthesise());
    // Before the synthesis, so that no change is missed.
    if (watch)
      await watchSources({ ...common, what: 'stack', build: stackBuild, replace }, resources);
    return synthesise();
  };
  const [database, stack, bundles] = await allSettled([
    startDatabase({ data, reset, signal }, resources),
    options.stack ?? synthesiseStack(),
    buildFunctions(),
  ]);

  progress('Creating the tables and the API key');
  const { endpoint: dynamodbEndpoint } = database;
  const docsToken = randomBytes(16).toString('base64url');
  const deployment = new LocalDeployment(
    { gateway, dynamodbEndpoint, folder, docsToken, seed, isInspected, log, failure },
    stack,
  );
  resources.defer(deployment.terminate);
  const apiKey = await deployment.start(bundles);
  deployed.resolve(deployment);
  // Stopping begins with the gateway, while everything behind it still works.
  resources.defer(gateway.stop);
  return {
    baseAddress: `${gateway.origin}/${stack.api.stageName}`,
    docsAddress: `${gateway.origin}/docs#token=${docsToken}`,
    apiKey,
    dynamodbEndpoint,
    tables: stack.tables,
  };
};

/** The functions as they are deployed, or for a debugger: with the names of variables and a source map. */
const functionsBuild = (outdir: string, isInspected?: boolean): BuildOptions => ({
  ...bundleOptions,
  entryPoints: ['functions/*.ts'],
  outdir,
  ...(isInspected ? { minify: false, sourcemap: 'both' } : { sourcemap: 'external' }),
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

/** Works like `Promise.all`, but throws only when nothing is running any more. */
const allSettled = async <Values extends readonly unknown[]>(
  work: {
    readonly [Index in keyof Values]: Promise<Values[Index]>;
  },
) => {
  await Promise.allSettled(work);
  return Promise.all(work);
};

const startDatabase = async (
  options: Parameters<typeof startDynamodbLocal>[0],
  resources: AsyncDisposableStack,
) => {
  const database = await startDynamodbLocal(options);
  resources.defer(database.stop);
  return database;
};

/** Prints a line, unless it is the log of a request that the service answered without a fault of its own. */
const printUnlessRoutine = (line: string) => {
  if (!line.startsWith('{"level":"INFO"')) console.log(line);
};

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageService } from '../openapi/reference-page.ts';
import { withAssembly } from '../template/build-stack.ts';
import { docsSite } from './docs-site.ts';
import { startDynamodbLocal } from './dynamodb/dynamodb-local.ts';
import { type GatewayOptions, startGateway } from './gateway/gateway.ts';
import type { FunctionReports } from './lambda/lambda-function.ts';
import { LocalDeployment } from './local-deployment.ts';
import { readStack, type StackDefinition } from './stack-definition.ts';
import { watchSources } from './watch-sources.ts';

export interface LocalServiceOptions extends Partial<FunctionReports & GatewayOptions> {
  /** The directory that keeps pets and keys between starts; without it they are in memory. */
  readonly data?: string | undefined;
  /** Removes all pets and keys from the directory first. */
  readonly reset?: boolean;
  /** Adds a hundred animals. */
  readonly seed?: boolean;
  /** An origin whose web pages may call the service. */
  readonly cors?: string;
  /** A folder that keeps the synthesised stacks. */
  readonly assembly?: string;
  /** Reloads what changed when a source file changes. */
  readonly watch?: boolean;
  /** Gets a line for each step. */
  readonly progress?: (step: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** The service as it runs on this machine. */
export interface LocalService {
  /** Ends in the version segment. */
  readonly baseAddress: string;
  /** A valid API key. */
  readonly apiKey: string;
  readonly dynamodbEndpoint: string;
  readonly tables: StackDefinition['tables'];
  readonly stop: () => Promise<void>;
}

/**
 * Starts the service on this machine: DynamoDB Local with the template's tables, and the functions' bundles behind a
 * gateway with the template's routes. Throws, with nothing left running, an error of one line that says what to do.
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
  try {
    return { ...(await start({ ...options, signal }, resources)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const start = async (
  options: LocalServiceOptions & { readonly signal: AbortSignal },
  resources: AsyncDisposableStack,
): Promise<Omit<LocalService, 'stop'>> => {
  const { progress = () => {}, log = printUnlessRoutine, exchange, failure, signal } = options;
  const page = Promise.withResolvers<PageService>();
  const site = docsSite(page.promise);
  // First, so that a taken port is reported before the slow steps.
  const gateway = await startGateway({ port: options.port ?? 0, log, exchange, site });
  resources.defer(gateway.stop);
  const deployed = Promise.withResolvers<LocalDeployment | undefined>();
  if (options.watch) {
    // Watches from now on, so that a change during the start leads to a reload after it.
    const rebuild = async (until: AbortSignal) => (await deployed.promise)?.redeploy(until);
    resources.defer(await watchSources({ rebuild, report: progress }));
  }
  resources.defer(async () => deployed.resolve(undefined));

  progress('Starting DynamoDB Local and synthesising the stack');
  const { assembly, cors, data, reset } = options;
  if (reset && data !== undefined) {
    await rm(join(data, 'shared-local-instance.db'), { force: true });
  }
  const synthesise = (until: AbortSignal) =>
    withAssembly(readStack, { signal: until, context: { cors }, assembly });
  const starting = startDynamodbLocal({ data, signal });
  const reading = synthesise(signal);
  resources.defer(async () => {
    await Promise.allSettled([starting.then(({ stop }) => stop()), reading]);
  });
  const [{ ended, endpoint: dynamodbEndpoint, port }, stack] = await Promise.all([
    starting,
    reading,
  ]);

  progress('Creating the tables and the API key');
  const deployment = new LocalDeployment(
    { gateway, dynamodbEndpoint, seed: options.seed, synthesise, progress, log, failure },
    stack,
  );
  resources.defer(deployment.terminate);
  const apiKey = await deployment.serve();
  deployed.resolve(deployment);

  /** Starts DynamoDB Local again, on the same port, each time it ends before the service. */
  const keepRunning = async (end: Promise<unknown>): Promise<void> => {
    await end;
    if (signal.aborted) return;
    const loss = data ? `${data} keeps the pets` : 'the pets in memory are lost';
    progress(`DynamoDB Local has ended; ${loss}. It is started again.`);
    const restarted = await startDynamodbLocal({ data, port, signal });
    resources.defer(restarted.stop);
    await deployment.serve();
    progress('DynamoDB Local runs again, with its tables and the API key.');
    await keepRunning(restarted.ended);
  };
  keepRunning(ended).catch((error) => {
    if (!signal.aborted) progress(`DynamoDB Local can't be started again: ${error.message}`);
  });
  // A stop begins at the gateway, while everything behind it still works.
  resources.defer(gateway.stop);
  const stage = `/${stack.api.stageName}`;
  page.resolve({ baseAddress: stage, apiKey });
  return { baseAddress: gateway.origin + stage, apiKey, dynamodbEndpoint, tables: stack.tables };
};

/** Prints a line, unless it is the log of a request that the service answered without a fault of its own. */
const printUnlessRoutine = (line: string) => {
  if (!line.startsWith('{"level":"INFO"')) console.log(line);
};

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { projectDirectory } from '../project-directory.ts';
import { docsSite } from './docs-site.ts';
import { createTables, type TableDefinition } from './dynamodb/create-tables.ts';
import { type DynamodbLocal, startDynamodbLocal } from './dynamodb/dynamodb-local.ts';
import { type GatewayOptions, startGateway } from './gateway/gateway.ts';
import type { FunctionReports } from './lambda/lambda-function.ts';
import { localClientConfig } from './local-account.ts';
import { issueLocalApiKey } from './local-api-key.ts';
import { LocalDeployment } from './local-deployment.ts';
import { seed } from './seed.ts';
import { readStack, type StackDefinition, synthesise } from './stack-definition.ts';
import { watchSources } from './watch-sources.ts';

export interface LocalServiceOptions extends Partial<FunctionReports & GatewayOptions> {
  /** Where pets and keys are kept from start to start; in memory without it. */
  readonly dataDirectory?: string | undefined;
  /** Removes all that the data directory holds first. */
  readonly reset?: boolean | undefined;
  /** Adds a hundred animals. */
  readonly seed?: boolean | undefined;
  /** An origin whose web pages may call the service; without effect on an `assembly`. */
  readonly corsOrigin?: string | undefined;
  /** A DynamoDB Local that runs already, instead of one that starts and stops with the service. */
  readonly dynamodbEndpoint?: string | undefined;
  /** A folder of stacks that are synthesised already. */
  readonly assembly?: string | undefined;
  /** Takes each changed source file into service. */
  readonly watch?: boolean;
  /** Gets a line for each step. */
  readonly progress?: (step: string) => void;
  /** Ends a start that is not wanted any more. */
  readonly signal?: AbortSignal;
}

/** The service as it runs on this machine. */
export interface LocalService {
  /** Ends in the version segment. */
  readonly baseAddress: string;
  /** Where a browser finds the reference page. */
  readonly docsAddress: string;
  /** A valid API key. */
  readonly apiKey: string;
  readonly dynamodbEndpoint: string;
  /** The tables, by the environment variables that give their names to the functions. */
  readonly tables: Readonly<Record<string, TableDefinition>>;
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

type StartOptions = LocalServiceOptions & { readonly signal: AbortSignal };

const start = async (
  options: StartOptions,
  resources: AsyncDisposableStack,
): Promise<Omit<LocalService, 'stop'>> => {
  const { progress = () => {}, log = printUnlessRoutine, exchange, failure, signal } = options;
  // First, so that a taken port is reported before the slow steps.
  const gateway = await startGateway({ port: options.port ?? 0, log, exchange });
  resources.defer(gateway.stop);
  const deployed = Promise.withResolvers<LocalDeployment | undefined>();
  if (options.watch) {
    // From now on, so that a change during the start is followed after it.
    const rebuild = async (until: AbortSignal) => (await deployed.promise)?.redeploy(until);
    resources.defer(await watchSources({ ...sources, rebuild, report: progress }));
  }
  resources.defer(async () => deployed.resolve(undefined));

  progress('Starting DynamoDB Local and synthesising the stack');
  const { assembly, corsOrigin: cors, dataDirectory, dynamodbEndpoint: given } = options;
  if (options.reset && dataDirectory !== undefined) {
    await rm(join(dataDirectory, 'shared-local-instance.db'), { force: true });
  }
  const read = (until: AbortSignal) =>
    assembly === undefined ? synthesise(until, { cors }) : readStack(assembly);
  const starting = given === undefined ? startDynamodbLocal({ dataDirectory, signal }) : undefined;
  const reading = read(signal);
  resources.defer(async () => {
    await Promise.allSettled([starting?.then(({ stop }) => stop()), reading]);
  });
  const [database, stack] = await Promise.all([starting, reading]);
  const dynamodbEndpoint = database?.endpoint ?? `${given}`;

  progress('Creating the tables and the API key');
  const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
  resources.defer(async () => client.destroy());
  const environment = { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
  const deployment = new LocalDeployment(
    { gateway, client, environment, synthesise: read, progress, log, failure },
    stack,
  );
  resources.defer(() => deployment.terminate());
  const serve = async () => {
    const apiKey = await fill(client, deployment.stack, options);
    // After the key is in its table: a function remembers for a while that a key is unknown.
    deployment.deploy();
    return apiKey;
  };
  const apiKey = await serve();
  deployed.resolve(deployment);

  if (database) {
    keepRunning(database, options, serve, resources).catch((error) => {
      if (!signal.aborted) progress(`DynamoDB Local can't be started again: ${error.message}`);
    });
  }
  // A stop begins at the gateway, while everything behind it still works.
  resources.defer(gateway.stop);
  const baseAddress = `${gateway.origin}/${stack.api.stageName}`;
  gateway.publish(docsSite({ baseAddress: `/${stack.api.stageName}`, apiKey }));
  const docsAddress = `${gateway.origin}/docs`;
  return { baseAddress, docsAddress, apiKey, dynamodbEndpoint, tables: stack.tables };
};

/** Prints a line, unless it is the log of a request that the service answered without a fault of its own. */
const printUnlessRoutine = (line: string) => {
  if (!line.startsWith('{"level":"INFO"')) console.log(line);
};

const sources = {
  directories: ['functions', 'infra', 'lib'].map((name) => join(projectDirectory, name)),
  loadedDirectories: ['local', 'template'].map((name) => join(projectDirectory, 'infra', name)),
};

/** Creates the tables and puts into them what every start has. Returns the API key. */
const fill = async (
  client: DynamoDBClient,
  { tables }: StackDefinition,
  options: LocalServiceOptions,
): Promise<string> => {
  const { PETS_TABLE: pets, KEYS_TABLE: keys } = tables;
  if (!pets || !keys) throw new Error('The template gives no function PETS_TABLE and KEYS_TABLE.');
  await createTables(client, Object.values(tables));
  if (options.seed) await seed(client, pets.TableName);
  return issueLocalApiKey(client, keys.TableName);
};

/** Starts DynamoDB Local again each time it ends, on the same port, until the signal is aborted. */
const keepRunning = async (
  database: DynamodbLocal,
  { dataDirectory, progress, signal }: StartOptions,
  serve: () => Promise<unknown>,
  resources: AsyncDisposableStack,
): Promise<void> => {
  const loss = dataDirectory ? `${dataDirectory} keeps the pets` : 'the pets in memory are lost';
  let { ended } = database;
  for (await ended; !signal.aborted; await ended) {
    progress?.(`DynamoDB Local has ended; ${loss}. It is started again.`);
    const { port } = database;
    const restarted = await startDynamodbLocal({ dataDirectory, port, signal });
    resources.defer(restarted.stop);
    ({ ended } = restarted);
    await serve();
    progress?.('DynamoDB Local runs again, with its tables and the API key.');
  }
};

import { join } from 'node:path';
import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { projectDirectory } from '../project-directory.ts';
import { docsSite } from './docs-site.ts';
import { createTables, type TableDefinition } from './dynamodb/create-tables.ts';
import { startDynamodbLocal } from './dynamodb/dynamodb-local.ts';
import { startGateway } from './gateway/gateway.ts';
import { FunctionFleet } from './lambda/function-fleet.ts';
import { localClientConfig } from './local-account.ts';
import { issueLocalApiKey } from './local-api-key.ts';
import { deploy, redeployer } from './local-deployment.ts';
import { localStage, readStack, type StackDefinition, synthesise } from './stack-definition.ts';
import { SourceWatch } from './watch-sources.ts';

export interface LocalServiceOptions {
  /** 0, the default, for any free port. */
  readonly port?: number;
  /** Where pets and keys are kept from start to start; in memory without it. */
  readonly dataDirectory?: string | undefined;
  /** A DynamoDB Local that runs already, instead of one that starts and stops with the service. */
  readonly dynamodbEndpoint?: string | undefined;
  /** Where only the functions find DynamoDB; that endpoint by default. */
  readonly functionsDynamodbEndpoint?: string | undefined;
  /** A folder of stacks that are synthesised already. */
  readonly assembly?: string | undefined;
  /** Takes each changed source file into service. */
  readonly watch?: boolean;
  /** Gets each line that the functions print, and why an invocation failed; without it, what is no routine is printed. */
  readonly log?: (line: string) => void;
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
  try {
    const service = await start(options, resources);
    return { ...service, stop: () => resources.disposeAsync() };
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
};

const start = async (
  options: LocalServiceOptions,
  resources: AsyncDisposableStack,
): Promise<Omit<LocalService, 'stop'>> => {
  const { progress = () => {}, log = printUnlessRoutine } = options;
  // First, so that a taken port is reported before the slow steps.
  const gateway = await startGateway({ port: options.port ?? 0, log });
  resources.defer(gateway.stop);

  const watch = options.watch
    ? await SourceWatch.start({ ...sources, report: progress })
    : undefined;
  resources.defer(async () => watch?.stop());

  progress('Starting DynamoDB Local and synthesising the stack');
  const [dynamodbEndpoint, stack] = await together(options.signal, [
    (signal) => dynamodb({ ...options, signal }, resources),
    (signal) => (options.assembly === undefined ? synthesise(signal) : readStack(options.assembly)),
  ]);

  progress('Creating the tables and the API key');
  const client = new DynamoDBClient(localClientConfig(dynamodbEndpoint));
  resources.defer(async () => client.destroy());
  const functionsEndpoint = options.functionsDynamodbEndpoint ?? dynamodbEndpoint;
  const fleet = new FunctionFleet({
    environment: { AWS_ENDPOINT_URL_DYNAMODB: functionsEndpoint },
    log,
  });
  resources.defer(() => fleet.terminate());
  const target = { gateway, client, fleet };
  const tables = tablesByVariable(stack);
  const keysTable = tables['KEYS_TABLE'];
  if (!keysTable) throw new Error('The template gives no function a KEYS_TABLE.');
  const apiKey = await usingData(options.dataDirectory, async () => {
    await createTables(client, stack.tables.values());
    return issueLocalApiKey(client, {
      tableName: keysTable.TableName,
      prefix: localStage.apiKeyPrefix,
    });
  });
  // After the key is in its table: a function remembers for a while that a key is unknown.
  await deploy(target, stack);

  watch?.begin(redeployer(target, stack, progress));
  // A stop begins at the gateway, while everything behind it still works.
  resources.defer(gateway.stop);
  resources.defer(async () => watch?.stop());
  const baseAddress = `${gateway.origin}/${stack.api.stageName}`;
  gateway.publish(docsSite({ baseAddress: `/${stack.api.stageName}`, apiKey }));
  const docsAddress = `${gateway.origin}/docs`;
  return { baseAddress, docsAddress, apiKey, dynamodbEndpoint, tables };
};

/** Prints a line, unless it tells of a request without fault of the service. */
const printUnlessRoutine = (line: string) => {
  if (!line.startsWith('{"level":"INFO"')) console.log(line);
};

const sources = {
  directories: ['functions', 'infra', 'lib'].map((name) => join(projectDirectory, name)),
  loadedDirectories: ['local', 'template'].map((name) => join(projectDirectory, 'infra', name)),
};

const dynamodb = async (
  { dynamodbEndpoint, dataDirectory, signal, progress }: LocalServiceOptions,
  resources: AsyncDisposableStack,
): Promise<string> => {
  if (dynamodbEndpoint !== undefined) return dynamodbEndpoint;
  const started = await startDynamodbLocal({ dataDirectory, signal, notice: progress });
  resources.defer(started.stop);
  return started.endpoint;
};

/** Says what is wrong with kept data, of which DynamoDB Local says only that the error is unknown. */
const usingData = async <Value>(
  directory: string | undefined,
  work: () => Promise<Value>,
): Promise<Value> => {
  try {
    return await work();
  } catch (error) {
    const isServerFault = error instanceof DynamoDBServiceException && error.$fault === 'server';
    if (directory === undefined || !isServerFault) throw error;
    throw new Error(
      `DynamoDB Local can't use the data in ${directory}; it may be damaged. Move that directory away, or choose another one.`,
      { cause: error },
    );
  }
};

/** Runs steps at the same time; when one fails the others are called off, and have ended when this throws. */
const together = async <One, Other>(
  signal: AbortSignal | undefined,
  [one, other]: [(signal: AbortSignal) => Promise<One>, (signal: AbortSignal) => Promise<Other>],
): Promise<[One, Other]> => {
  const failure = new AbortController();
  const either = AbortSignal.any([failure.signal, ...(signal ? [signal] : [])]);
  const steps: [Promise<One>, Promise<Other>] = [one(either), other(either)];
  try {
    return await Promise.all(steps);
  } catch (error) {
    failure.abort();
    await Promise.allSettled(steps);
    throw error;
  }
};

const tablesByVariable = ({ functions, tables }: StackDefinition) => {
  const byName = new Map([...tables.values()].map((table) => [table.TableName, table]));
  const variables = [...functions.values()].flatMap(({ environment }) =>
    Object.entries(environment),
  );
  return Object.fromEntries(
    variables.flatMap(([name, value]) => {
      const table = byName.get(value);
      return table ? [[name, table] as const] : [];
    }),
  );
};

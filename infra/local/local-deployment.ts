import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { OutputFile } from 'esbuild';
import { entryModule } from '../build/entry-module.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { docsSite } from './docs-site.ts';
import { createTables } from './dynamodb/create-tables.ts';
import type { Gateway, Site } from './gateway/gateway.ts';
import { issueLocalApiKey, seed } from './initial-data.ts';
import { type FunctionReports, LambdaFunction } from './lambda/lambda-function.ts';
import { localClientConfig } from './local-account.ts';
import type { StackDefinition } from './stack-definition.ts';

/** Makes the time limits inside a function so long that a debugger can stop a request. */
const stretchTimeouts = join(projectDirectory, 'infra/local/lambda/stretch-timeouts.cjs');

export interface LocalDeploymentOptions extends FunctionReports {
  readonly gateway: Gateway;
  readonly dynamodbEndpoint: string;
  /** The folder for the bundles. Nothing else uses it. */
  readonly folder: string;
  /** The token in exchange for which the reference page gets the API key. */
  readonly docsToken: string;
  /** Whether to add a hundred animals. */
  readonly seed?: boolean | undefined;
  /** Whether the functions run for a debugger, and so without time limits. */
  readonly isInspected?: boolean | undefined;
}

/** The functions that are in service, and the folder with their bundles. */
interface Release {
  readonly bundles: string;
  readonly functions: readonly LambdaFunction[];
}

/**
 * A stack that runs on this machine: its tables are in DynamoDB Local, and its functions are behind the
 * gateway.
 */
export class LocalDeployment {
  readonly #options: LocalDeploymentOptions;
  #stack: StackDefinition;
  #site: Site | undefined;
  /** The folder with the latest bundles. */
  #bundles = '';
  #versions = 0;
  #release: Release | undefined;

  constructor(options: LocalDeploymentOptions, stack: StackDefinition) {
    this.#options = options;
    this.#stack = stack;
  }

  /** Creates the tables, the data and the API key, and serves the stack. Returns the API key. */
  async start(files: readonly OutputFile[]): Promise<string> {
    await this.#writeBundles(files);
    return this.replaceStack(this.#stack);
  }

  /**
   * Serves another stack, with the tables that are missing. Returns the API key. Throws, and keeps what was in
   * service, if a function has no bundle.
   */
  async replaceStack(stack: StackDefinition): Promise<string> {
    const client = new DynamoDBClient(localClientConfig(this.#options.dynamodbEndpoint));
    const { PETS_TABLE: pets, KEYS_TABLE: keys } = stack.tables;
    if (!pets || !keys)
      throw new Error('In the template, no function has PETS_TABLE and KEYS_TABLE.');
    await createTables(client, Object.values(stack.tables));
    if (this.#options.seed) await seed(client, pets.TableName);
    const apiKey = await issueLocalApiKey(client, keys.TableName);
    client.destroy();
    const basePath = `/${stack.api.stageName}`;
    this.#stack = stack;
    this.#site = docsSite({ basePath, apiKey, token: this.#options.docsToken });
    // Functions are started after the key is in its table, because a function remembers for a
    // while that a key is unknown.
    this.#deploy();
    return apiKey;
  }

  /** Serves other bundles. Throws, and keeps what was in service, if a function has none. */
  async replaceBundles(files: readonly OutputFile[]): Promise<void> {
    await this.#writeBundles(files);
    this.#deploy();
  }

  /** Ends all functions immediately. */
  terminate = async (): Promise<void> => {
    await Promise.all(this.#release?.functions.map((one) => one.terminate()) ?? []);
  };

  /** Writes bundles into a new folder, because the functions in service still use theirs. */
  async #writeBundles(files: readonly OutputFile[]): Promise<void> {
    this.#versions += 1;
    const bundles = join(this.#options.folder, `${this.#versions}`);
    for (const { path, text } of files) {
      const directory = join(bundles, basename(dirname(path)));
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, basename(path)), text);
      if (path.endsWith('.map')) continue;
      const name = basename(path, '.cjs');
      await writeFile(join(directory, `${name}.mjs`), entryModule(name, text));
    }
    this.#bundles = bundles;
  }

  #deploy(): void {
    const { gateway, dynamodbEndpoint, isInspected, log, failure } = this.#options;
    const common = {
      environment: { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint },
      ...(isInspected && { preload: stretchTimeouts }),
      log,
      failure,
    };
    const functions = new Map<string, LambdaFunction>();
    for (const [id, definition] of this.#stack.functions) {
      const directory = join(this.#bundles, definition.bundleName);
      if (!existsSync(directory))
        throw new Error(`functions/${definition.bundleName}.ts is missing, and a route calls it.`);
      functions.set(id, new LambdaFunction({ definition, directory, ...common }));
    }
    gateway.deploy({ api: this.#stack.api, functions, site: this.#site });
    if (this.#release) this.#retire(this.#release);
    this.#release = { bundles: this.#bundles, functions: [...functions.values()] };
  }

  /** Ends functions after their last requests, and removes their bundles. */
  async #retire({ bundles, functions }: Release): Promise<void> {
    await Promise.all(functions.map((one) => one.retire()));
    if (bundles !== this.#bundles) await rm(bundles, { recursive: true, force: true });
  }
}

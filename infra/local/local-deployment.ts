import { basename, join } from 'node:path';
import type { OutputFile } from 'esbuild';
import { writeBundles } from '../build/bundle-functions.ts';
import type { DynamodbLocal } from './dynamodb/dynamodb-local.ts';
import type { Gateway } from './gateway/gateway.ts';
import { prepareTables } from './initial-data.ts';
import { LocalFunction } from './lambda/local-function.ts';
import type { StackDefinition } from './stack-definition.ts';

interface LocalDeploymentOptions {
  readonly gateway: Gateway;
  /** DynamoDB Local, once it has started. */
  readonly database: Promise<DynamodbLocal>;
  /** The folder for the bundles. */
  readonly folder: string;
  /** Whether to add a hundred animals. */
  readonly seed: boolean | undefined;
  readonly log: (line: string) => void;
}

/** The latest stack with the latest bundles, behind the gateway as soon as there are both. */
export class LocalDeployment {
  readonly #options: LocalDeploymentOptions;
  #stack: StackDefinition | undefined;
  #bundles: readonly OutputFile[] | undefined;
  #functions = new Map<string, LocalFunction>();

  constructor(options: LocalDeploymentOptions) {
    this.#options = options;
  }

  /** Serves a stack, whose tables it creates first. Returns the stack and an API key. */
  async useStack(stack: StackDefinition): Promise<{ stack: StackDefinition; apiKey: string }> {
    const { seed } = this.#options;
    const { endpoint, explain } = await this.#options.database;
    // Before the functions start, because a function remembers for a while that a key is unknown.
    const apiKey = await prepareTables(endpoint, stack.tables, seed).catch((error: unknown) => {
      throw explain(error);
    });
    this.#stack = stack;
    await this.#deploy();
    return { stack, apiKey };
  }

  /** Serves other bundles. Throws, and keeps what was in service, if a function has none. */
  async useBundles(bundles: readonly OutputFile[]): Promise<void> {
    this.#bundles = bundles;
    await this.#deploy();
  }

  /** Ends each function after its last invocation. */
  stop = async (): Promise<void> => {
    await Promise.all(this.#functions.values().map((one) => one.stop()));
  };

  async #deploy(): Promise<void> {
    if (!this.#stack || !this.#bundles) return;
    const { gateway, database, folder, log } = this.#options;
    const { api, functions } = this.#stack;
    for (const { bundleName } of functions.values()) {
      if (!this.#bundles.some(({ path }) => basename(path) === `${bundleName}.cjs`))
        throw new Error(`functions/${bundleName}.ts is missing, and a route calls it.`);
    }
    await writeBundles(this.#bundles);
    const environment = { AWS_ENDPOINT_URL_DYNAMODB: (await database).endpoint };
    this.stop();
    this.#functions = new Map();
    for (const [id, definition] of functions) {
      const directory = join(folder, definition.bundleName);
      this.#functions.set(id, new LocalFunction({ definition, directory, environment, log }));
    }
    gateway.deploy({ api, functions: this.#functions });
  }
}

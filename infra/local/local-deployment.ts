import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { buildBundles } from '../build/build-stack.ts';
import { bundleDirectory } from '../build/bundle-functions.ts';
import { messageOf } from '../message-of.ts';
import { docsSite } from './docs-site.ts';
import { createTables } from './dynamodb/create-tables.ts';
import type { Gateway, Site } from './gateway/gateway.ts';
import { issueLocalApiKey, seed } from './initial-data.ts';
import { type FunctionReports, LambdaFunction } from './lambda/lambda-function.ts';
import { localClientConfig } from './local-account.ts';
import type { StackDefinition } from './stack-definition.ts';

/** How long a replaced function may still run, in ms: no request takes longer. */
const retirementMs = 30_000;

export interface LocalDeploymentOptions extends FunctionReports {
  readonly gateway: Gateway;
  readonly dynamodbEndpoint: string;
  /** For which the reference page gets the API key. */
  readonly docsToken: string;
  /** Adds a hundred animals. */
  readonly seed?: boolean | undefined;
  readonly synthesise: (signal: AbortSignal) => Promise<StackDefinition>;
  /** Gets a line for each reload. */
  readonly progress: (line: string) => void;
}

/**
 * The functions of one deployment, with a copy of their bundles: later builds change
 * and remove the originals.
 */
interface Release {
  readonly copy: string;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
}

/** A stack as it runs here: its tables in DynamoDB Local, its functions behind the gateway. */
export class LocalDeployment {
  readonly #options: LocalDeploymentOptions;
  /** What is in service. */
  #stack: StackDefinition;
  readonly #releases = new Set<Release>();
  #site: Site | undefined;

  constructor(options: LocalDeploymentOptions, stack: StackDefinition) {
    this.#options = options;
    this.#stack = stack;
  }

  /** Creates missing tables, adds the initial data, and serves the stack. Returns the API key. */
  async serve(stack = this.#stack): Promise<string> {
    const client = new DynamoDBClient(localClientConfig(this.#options.dynamodbEndpoint));
    const { PETS_TABLE: pets, KEYS_TABLE: keys } = stack.tables;
    if (!pets || !keys)
      throw new Error('In the template, no function has PETS_TABLE and KEYS_TABLE.');
    await createTables(client, Object.values(stack.tables));
    if (this.#options.seed) await seed(client, pets.TableName);
    const apiKey = await issueLocalApiKey(client, keys.TableName);
    client.destroy();
    this.#stack = stack;
    this.#site = docsSite({
      baseAddress: `/${stack.api.stageName}`,
      apiKey,
      token: this.#options.docsToken,
    });
    // After the key is in its table: a function remembers for a while that a key is unknown.
    await this.#deploy();
    return apiKey;
  }

  /**
   * Serves the stack with the bundles as they are now; requests that came before still get their response.
   */
  async #deploy(): Promise<void> {
    const { gateway, dynamodbEndpoint, log, failure } = this.#options;
    const environment = { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
    const copy = await mkdtemp(join(tmpdir(), 'animal-store-functions-'));
    const functions = new Map<string, LambdaFunction>();
    const release = { copy, functions };
    const earlier = [...this.#releases];
    this.#releases.add(release);
    for (const [id, definition] of this.#stack.functions) {
      const directory = join(copy, definition.bundleName);
      await cp(bundleDirectory(definition.bundleName), directory, { recursive: true });
      functions.set(id, new LambdaFunction({ definition, directory, environment, log, failure }));
    }
    gateway.deploy({ api: this.#stack.api, functions, site: this.#site });
    for (const one of earlier) setTimeout(() => this.#end(one), retirementMs).unref();
  }

  /** Whether each function of the stack has a bundle: a bundle is removed with its source. */
  #hasBundles(): boolean {
    const functions = [...this.#stack.functions.values()];
    return functions.every(({ bundleName }) => existsSync(bundleDirectory(bundleName)));
  }

  /**
   * Reloads changed sources: first the bundles, then the stack, which shares modules with them. Reports what
   * can't be built, and keeps what ran before in service.
   */
  async redeploy(signal: AbortSignal): Promise<void> {
    const { progress, synthesise } = this.#options;
    try {
      await buildBundles(signal);
      if (this.#hasBundles()) {
        await this.#deploy();
        progress('Reloaded the functions');
      }
      const changed = await synthesise(signal);
      if (!isDeepStrictEqual(changed, this.#stack)) await this.serve(changed);
      progress('Reloaded the stack');
    } catch (error) {
      if (signal.aborted) return;
      progress(`Not reloaded, what ran before stays in service: ${messageOf(error)}`);
    }
  }

  async #end(release: Release): Promise<void> {
    this.#releases.delete(release);
    await Promise.all([...release.functions.values()].map((one) => one.terminate()));
    await rm(release.copy, { recursive: true, force: true });
  }

  /** Ends all functions at once. */
  terminate = async (): Promise<void> => {
    await Promise.all([...this.#releases].map((release) => this.#end(release)));
  };
}

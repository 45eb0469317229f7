import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { buildBundles } from '../build/build-stack.ts';
import { bundleDirectory, bundleForDebugger } from '../build/bundle-functions.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { messageOf } from '../message-of.ts';
import { newCopyFolder } from './copy-folder.ts';
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
  /** The token in exchange for which the reference page gets the API key. */
  readonly docsToken: string;
  /** Whether to add a hundred animals. */
  readonly seed?: boolean | undefined;
  /** Whether the functions run for a debugger: as readable bundles, and without time limits. */
  readonly isInspected?: boolean | undefined;
  /** Synthesises the stack with the bundles as they are. */
  readonly synthesiseAgain: (signal: AbortSignal) => Promise<StackDefinition>;
  /** Called with a line for each reload. */
  readonly progress: (line: string) => void;
}

/**
 * The functions of one deployment, with a copy of their bundles. Later builds change
 * and remove the originals.
 */
interface Release {
  readonly copy: string;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
}

/**
 * A stack that runs on this machine: its tables are in DynamoDB Local, and its
 * functions are behind the gateway.
 */
export class LocalDeployment {
  readonly #options: LocalDeploymentOptions;
  /** The stack that is in service. */
  #stack: StackDefinition;
  readonly #releases = new Set<Release>();
  #site: Site | undefined;
  /** The latest deployment. It never rejects. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(options: LocalDeploymentOptions, stack: StackDefinition) {
    this.#options = options;
    this.#stack = stack;
  }

  /**
   * Creates missing tables, adds the initial data, and serves the stack. Returns the API key. Waits for a
   * reload that is running.
   */
  serve(): Promise<string> {
    return this.#oneAtATime(() => this.#serve(this.#stack));
  }

  /**
   * Reloads changed sources: first the bundles, then the stack, which shares modules with them. If something
   * can't be built, reports that and keeps the previous version in service.
   */
  redeploy(signal: AbortSignal): Promise<void> {
    return this.#oneAtATime(() => this.#reload(signal));
  }

  /** Without it, the older of two deployments could end up in service, or be ended while it is. */
  #oneAtATime<Result>(deploy: () => Promise<Result>): Promise<Result> {
    const result = this.#latest.then(deploy);
    this.#latest = result.catch(() => {});
    return result;
  }

  async #serve(stack: StackDefinition): Promise<string> {
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
      basePath: `/${stack.api.stageName}`,
      apiKey,
      token: this.#options.docsToken,
    });
    // Functions are started after the key is in its table, because a function remembers for a
    // while that a key is unknown.
    await this.#deploy();
    return apiKey;
  }

  /**
   * Serves the stack with the bundles as they are now. Requests that arrived before still get their response.
   */
  async #deploy(): Promise<void> {
    const { gateway, dynamodbEndpoint, isInspected, log, failure } = this.#options;
    const common = {
      environment: { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint },
      ...(isInspected && { preload: stretchTimeouts }),
      log,
      failure,
    };
    const copy = await newCopyFolder();
    const functions = new Map<string, LambdaFunction>();
    const release = { copy, functions };
    const earlier = [...this.#releases];
    this.#releases.add(release);
    for (const [id, definition] of this.#stack.functions) {
      const directory = join(copy, definition.bundleName);
      await cp(bundleDirectory(definition.bundleName), directory, { recursive: true });
      functions.set(id, new LambdaFunction({ definition, directory, ...common }));
    }
    if (isInspected) await bundleForDebugger(copy);
    gateway.deploy({ api: this.#stack.api, functions, site: this.#site });
    for (const one of earlier) this.#retire(one);
  }

  async #retire(release: Release): Promise<void> {
    await Promise.all([...release.functions.values()].map((one) => one.retire()));
    await this.#end(release);
  }

  /** Tells whether each function of the stack has a bundle. A bundle is removed together with its source. */
  #hasBundles(): boolean {
    const functions = [...this.#stack.functions.values()];
    return functions.every(({ bundleName }) => existsSync(bundleDirectory(bundleName)));
  }

  async #reload(signal: AbortSignal): Promise<void> {
    const { progress, synthesiseAgain } = this.#options;
    try {
      await buildBundles(signal);
      if (this.#hasBundles()) {
        await this.#deploy();
        progress('Reloaded the functions');
      }
      const changed = await synthesiseAgain(signal);
      if (!isDeepStrictEqual(changed, this.#stack)) await this.#serve(changed);
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

  /** Ends all functions immediately. */
  terminate = async (): Promise<void> => {
    await Promise.all([...this.#releases].map((release) => this.#end(release)));
  };
}

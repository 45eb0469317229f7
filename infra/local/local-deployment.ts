import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { bundleDirectory } from '../lambda/bundle-functions.ts';
import { buildBundles } from '../template/build-stack.ts';
import { createTables } from './dynamodb/create-tables.ts';
import type { Gateway } from './gateway/gateway.ts';
import { LambdaFunction, type LambdaFunctionOptions } from './lambda/lambda-function.ts';
import type { StackDefinition } from './stack-definition.ts';

/** How long a replaced function may still run, in ms: no request takes longer. */
const retirementMs = 30_000;

export interface LocalDeploymentOptions
  extends Pick<LambdaFunctionOptions, 'environment' | 'log' | 'failure'> {
  readonly gateway: Gateway;
  readonly client: DynamoDBClient;
  readonly synthesise: (signal: AbortSignal) => Promise<StackDefinition>;
  /** Gets a line for each reload. */
  readonly progress: (line: string) => void;
}

/** The stack as it runs here: its tables in DynamoDB Local, its functions behind the gateway. */
export class LocalDeployment {
  readonly #options: LocalDeploymentOptions;
  /** What is in service. */
  stack: StackDefinition;
  #functions: ReadonlyMap<string, LambdaFunction> = new Map();

  constructor(options: LocalDeploymentOptions, stack: StackDefinition) {
    this.#options = options;
    this.stack = stack;
  }

  /** Serves the stack with the bundles as they are now; requests that came before still get their response. */
  deploy(): void {
    const { gateway, environment, log, failure } = this.#options;
    const before = this.#functions;
    this.#functions = new Map(
      [...this.stack.functions].map(([id, definition]) => {
        const directory = bundleDirectory(definition.bundleName);
        return [id, new LambdaFunction({ definition, directory, environment, log, failure })];
      }),
    );
    gateway.deploy({ api: this.stack.api, functions: this.#functions });
    setTimeout(() => terminate(before), retirementMs).unref();
  }

  /**
   * Takes changed sources into service: the bundles at once, then the stack, which shares modules with them. Reports
   * what can't be built, and leaves in service what was.
   */
  async redeploy(signal: AbortSignal): Promise<void> {
    const { client, progress, synthesise } = this.#options;
    try {
      await buildBundles(signal);
      this.deploy();
      progress('Reloaded the functions');
      const changed = await synthesise(signal);
      if (!isDeepStrictEqual(changed, this.stack)) {
        await createTables(client, Object.values(changed.tables));
        this.stack = changed;
        this.deploy();
      }
      progress('Reloaded the stack');
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : error;
      progress(`Not reloaded, what ran before stays in service: ${reason}`);
    }
  }

  /** Ends all functions at once. */
  terminate(): Promise<void> {
    return terminate(this.#functions);
  }
}

const terminate = async (functions: ReadonlyMap<string, LambdaFunction>): Promise<void> => {
  await Promise.all([...functions.values()].map((one) => one.terminate()));
};

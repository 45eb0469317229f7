import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { buildBundles } from '../template/build-stack.ts';
import { createTables } from './dynamodb/create-tables.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { FunctionFleet } from './lambda/function-fleet.ts';
import { type StackDefinition, synthesise } from './stack-definition.ts';

/** The stack that is in service: its tables in DynamoDB Local, its functions behind the gateway. */
export class LocalDeployment {
  readonly #gateway: Gateway;
  readonly #client: DynamoDBClient;
  readonly #fleet: FunctionFleet;

  constructor(gateway: Gateway, client: DynamoDBClient, fleet: FunctionFleet) {
    this.#gateway = gateway;
    this.#client = client;
    this.#fleet = fleet;
  }

  /** Creates the tables of a stack that don't exist yet. */
  async createTables(stack: StackDefinition): Promise<void> {
    await createTables(this.#client, stack.tables.values());
  }

  /**
   * Takes a stack, whose tables exist, and the bundles as they are now into service. Gives the names of the functions
   * that changed.
   */
  async deploy(stack: StackDefinition): Promise<readonly string[]> {
    const { functions, replaced } = await this.#fleet.update(stack.functions);
    this.#gateway.deploy({ api: stack.api, functions });
    return replaced;
  }
}

/**
 * Takes changed sources into service: the bundles at once, then the stack, which shares modules with them.
 * What can't be built is reported, and what was in service stays.
 */
export const redeployer = (
  deployment: LocalDeployment,
  deployed: StackDefinition,
  report: (line: string) => void,
): ((signal: AbortSignal) => Promise<void>) => {
  let stack = deployed;
  let hasFailed = false;
  return async (signal) => {
    try {
      await buildBundles(signal);
      const replaced = await deployment.deploy(stack);
      if (replaced.length > 0) report(`Reloaded ${replaced.join(', ')}`);
      const changed = await synthesise(signal);
      if (!isDeepStrictEqual(changed, stack)) {
        await deployment.createTables(changed);
        await deployment.deploy(changed);
        stack = changed;
        report('Reloaded the stack');
      } else if (hasFailed) {
        report('The error is fixed: what runs is what the sources say');
      }
      hasFailed = false;
    } catch (error) {
      if (signal.aborted) return;
      hasFailed = true;
      const reason = error instanceof Error ? error.message : error;
      report(`Not reloaded, what ran before stays in service: ${reason}`);
    }
  };
};

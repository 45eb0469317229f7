import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { buildBundles, synthesise } from './build-stack.ts';
import { createTables, type TableDefinition, tablesOf } from './create-tables.ts';
import { type FunctionDefinition, functionsOf } from './function-definition.ts';
import type { FunctionFleet } from './function-fleet.ts';
import type { Gateway } from './gateway.ts';
import { type RestApiDefinition, restApiOf } from './rest-api-definition.ts';
import type { Template } from './template.ts';

/** A template as the local service reads it. */
export interface StackDefinition {
  readonly api: RestApiDefinition;
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  readonly tables: ReadonlyMap<string, TableDefinition>;
}

/** Reads what runs locally of a stack's template. Throws for what a route depends on and is not understood. */
export const stackDefinitionOf = (template: Template): StackDefinition => {
  const api = restApiOf(template);
  const tables = tablesOf(template);
  const called = api.routes.flatMap(({ integration }) =>
    'functionId' in integration ? [integration.functionId] : [],
  );
  const tableNames = new Map([...tables].map(([id, { TableName }]) => [id, TableName]));
  return { api, tables, functions: functionsOf(template, new Set(called), tableNames) };
};

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

  /** Takes a stack and the bundles as they are now into service. Gives the names of the functions that changed. */
  async deploy(stack: StackDefinition): Promise<readonly string[]> {
    await createTables(this.#client, stack.tables.values());
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
  return async (signal) => {
    try {
      await buildBundles(signal);
      const replaced = await deployment.deploy(stack);
      if (replaced.length > 0) report(`Reloaded ${replaced.join(', ')}`);
      const changed = stackDefinitionOf(await synthesise(signal));
      if (isDeepStrictEqual(changed, stack)) return;
      await deployment.deploy(changed);
      stack = changed;
      report('Reloaded the stack');
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : error;
      report(`Not reloaded, what ran before stays in service: ${reason}`);
    }
  };
};

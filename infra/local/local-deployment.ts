import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { buildBundles } from '../template/build-stack.ts';
import { createTables } from './dynamodb/create-tables.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { FunctionFleet } from './lambda/function-fleet.ts';
import { type StackDefinition, synthesise } from './stack-definition.ts';

/** What a stack is deployed to: its tables to DynamoDB Local, its functions behind the gateway. */
export interface LocalTarget {
  readonly gateway: Gateway;
  readonly client: DynamoDBClient;
  readonly fleet: FunctionFleet;
}

/** Serves a stack, whose tables exist, with the bundles as they are now. Returns the names of the changed functions. */
export const deploy = async (
  { gateway, fleet }: LocalTarget,
  { api, functions: definitions }: StackDefinition,
): Promise<readonly string[]> => {
  const { functions, replaced } = await fleet.update(definitions);
  gateway.deploy({ api, functions });
  return replaced;
};

/**
 * Takes changed sources into service: the bundles at once, then the stack, which shares modules with them.
 * What can't be built is reported, and what was in service stays.
 */
export const redeployer = (
  target: LocalTarget,
  deployed: StackDefinition,
  report: (line: string) => void,
): ((signal: AbortSignal) => Promise<void>) => {
  let stack = deployed;
  let hasFailed = false;
  return async (signal) => {
    try {
      await buildBundles(signal);
      const replaced = await deploy(target, stack);
      if (replaced.length > 0) report(`Reloaded ${replaced.join(', ')}`);
      const changed = await synthesise(signal);
      if (!isDeepStrictEqual(changed, stack)) {
        await createTables(target.client, changed.tables.values());
        await deploy(target, changed);
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

import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { FunctionName } from '../../../lib/contract/routes.ts';
import { bundleName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import { deployedResources, openStack } from '../deployed-stack.ts';

/** Opens a deployed stage for changes. Throws when the credentials belong to another account. */
export const openOperatedStage = async (stage: Stage) => {
  const { config, outputOf, ...stack } = await openStack(stage);
  const resources = await deployedResources(stage, { config });
  /** The physical id of the one resource of a type whose logical id starts with a text. */
  const idOf = (type: string, start = ''): string => {
    const found = resources.find(
      ({ ResourceType, LogicalResourceId }) =>
        ResourceType === `AWS::${type}` && LogicalResourceId?.startsWith(start),
    );
    if (found?.PhysicalResourceId !== undefined) return found.PhysicalResourceId;
    throw new Error(`The stack of ${stage.name} has no ${type} ${start}: deploy it first`);
  };
  // The CDK names an alias after its function.
  const functionsWithAlias = resources.flatMap(({ ResourceType, LogicalResourceId = '' }) => {
    if (ResourceType !== 'AWS::Lambda::Alias') return [];
    return [idOf('Lambda::Function', LogicalResourceId.replace(/FunctionAlias.*/, 'Function'))];
  });
  return {
    stage,
    ...stack,
    lambda: new LambdaClient(config),
    // A copy of a whole table is throttled at times.
    dynamodb: new DynamoDBClient({ ...config, maxAttempts: 6 }),
    apiGateway: new APIGatewayClient(config),
    idOf,
    /**
     * Returns the functions that the deployed API calls. This commit may have an operation that is not
     * released yet, or have removed one that is still deployed. Throws if there is none.
     */
    apiFunctions: () => {
      if (functionsWithAlias.length > 0) return functionsWithAlias;
      throw new Error(`The stack of ${stage.name} has no function of the API: deploy it first`);
    },
    functionOf: (name: FunctionName) =>
      idOf('Lambda::Function', `${bundleName(name).replaceAll('-', '')}Function`),
    tableOf: (kind: TableKind) => outputOf(`${tables[kind].id}Name`),
  };
};

export type OperatedStage = Awaited<ReturnType<typeof openOperatedStage>>;

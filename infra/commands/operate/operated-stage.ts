import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { FunctionName } from '../../../lib/contract/routes.ts';
import { bundleName, stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { openStack } from '../deployed-stack.ts';

/** The tables of a stage. */
export const tableKinds = ['pets', 'keys'] as const;
export type TableKind = (typeof tableKinds)[number];

/** Opens a deployed stage for changes. Throws when the credentials belong to another account. */
export const openOperatedStage = async (stage: Stage) => {
  const { config, outputOf, ...stack } = await openStack(stage);
  const pages = paginateListStackResources(
    { client: stack.cloudformation },
    { StackName: stackName(stage) },
  );
  const resources = (await Array.fromAsync(pages)).flatMap(
    ({ StackResourceSummaries = [] }) => StackResourceSummaries,
  );
  /** The physical id of the one resource of a type whose logical id starts with a text. */
  const idOf = (type: string, start = ''): string => {
    const found = resources.find(
      ({ ResourceType, LogicalResourceId }) =>
        ResourceType === `AWS::${type}` && LogicalResourceId?.startsWith(start),
    );
    if (found?.PhysicalResourceId !== undefined) return found.PhysicalResourceId;
    throw new Error(`The stack of ${stage.name} has no ${type} ${start}: deploy it first`);
  };
  return {
    stage,
    ...stack,
    lambda: new LambdaClient(config),
    dynamodb: new DynamoDBClient(config),
    apiGateway: new APIGatewayClient(config),
    idOf,
    functionOf: (name: FunctionName) =>
      idOf('Lambda::Function', `${bundleName(name).replaceAll('-', '')}Function`),
    tableOf: (kind: TableKind) => outputOf({ pets: 'PetsTableName', keys: 'KeysTableName' }[kind]),
  };
};

export type OperatedStage = Awaited<ReturnType<typeof openOperatedStage>>;

import { DescribeStacksCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyAdministration } from '../../lib/keys/key-administration.ts';
import { commitParameter, previousCommitParameter, stackName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { type TableKind, tables } from '../settings/tables.ts';
import { awsClients } from './aws-clients.ts';
import { awsConfig } from './aws-config.ts';

/**
 * Returns the account and the region of a stage, which are those of the credentials if it has none, with the
 * clients of AWS. Throws when the credentials belong to another account.
 */
export const openAccount = async (stage: Stage) => {
  const config = await awsConfig(stage);
  const clients = awsClients(config);
  const sts = clients.sts();
  const region = await sts.config.region();
  const { Account: account } = await sts.send(new GetCallerIdentityCommand());
  if (!account) throw notOfAws('STS GetCallerIdentity');
  const expected = stage.environment?.account;
  if (expected !== undefined && expected !== account)
    throw new Error(
      `The credentials belong to the account ${account}, and the stage to ${expected}`,
    );
  return { config, clients, account, region };
};

export type OpenedAccount = Awaited<ReturnType<typeof openAccount>>;

/** The error of a response with status 200 that lacks what AWS always sends, such as the web page of a proxy. */
const notOfAws = (call: string) =>
  new Error(`${call}: the response is not one of AWS, but perhaps of a proxy: see HTTPS_PROXY`);

/**
 * Tells whether a stack does not exist. CloudFormation has no type of its own for this error: a name that it
 * refuses is a ValidationError, too.
 */
const isNoStack = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'ValidationError' &&
  error.message.endsWith('does not exist');

/** Returns an address of API Gateway. An emulator serves the same API under a host name of its own. */
const servedAddress = (address: string): string => {
  const { AWS_ENDPOINT_URL } = process.env;
  if (AWS_ENDPOINT_URL === undefined) return address;
  const { hostname, pathname } = new URL(address);
  const { protocol, port } = new URL(AWS_ENDPOINT_URL);
  return `${protocol}//${hostname.split('.')[0]}.execute-api.localhost:${port}${pathname}`;
};

/**
 * Finds the stack of a stage in an opened account. Returns its id, its status, the commit that it has and the one
 * before, which are `unknown` if it was deployed without them, its outputs and the address of its API. Returns
 * undefined if there is no stack.
 */
export const findStack = async (stage: Stage, { clients }: Pick<OpenedAccount, 'clients'>) => {
  const command = new DescribeStacksCommand({ StackName: stackName(stage) });
  const response = await clients
    .cloudformation()
    .send(command)
    .catch((error: unknown) => {
      if (!isNoStack(error)) throw error;
    });
  if (!response) return undefined;
  const [stack] = response.Stacks ?? [];
  if (!stack) throw notOfAws('CloudFormation DescribeStacks');
  const parameterOf = (name: string): string => {
    const parameter = stack.Parameters?.find(({ ParameterKey }) => ParameterKey === name);
    return parameter?.ParameterValue ?? 'unknown';
  };
  const outputs = new Map(
    stack.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  const address = outputs.get('BaseAddress');
  if (address) outputs.set('BaseAddress', servedAddress(address));
  return {
    id: stack.StackId,
    status: stack.StackStatus ?? 'unknown',
    commit: parameterOf(commitParameter),
    previousCommit: parameterOf(previousCommitParameter),
    baseAddress: outputs.get('BaseAddress'),
    /** Throws if the stack has no such output, because its first deployment failed. */
    outputOf: (name: string): string => {
      const value = outputs.get(name);
      if (value !== undefined) return value;
      throw new Error(`The stack of ${stage.name} has no output ${name}: deploy it first`);
    },
  };
};

/**
 * Opens a deployed stage: its account, its stack, its tables and its API keys. Throws when there is no stack, or
 * when the credentials belong to another account, which could have a stack of the same name.
 */
export const openStage = async (stage: Stage) => {
  const opened = await openAccount(stage);
  const stack = await findStack(stage, opened);
  if (!stack) {
    const { account, region } = opened;
    throw new Error(`There is no stage ${stage.name} in account ${account}, region ${region}`);
  }
  const dynamodb = opened.clients.dynamodb();
  const tableOf = (kind: TableKind) => stack.outputOf(`${tables[kind].id}Name`);
  return {
    stage,
    ...opened,
    ...stack,
    dynamodb,
    /** Returns the name of a table. Throws, as `keys` does, if the first deployment has failed. */
    tableOf,
    keys: () =>
      keyAdministration(DynamoDBDocumentClient.from(dynamodb), tableOf('keys'), stage.apiKeyPrefix),
  };
};

export type DeployedStage = Awaited<ReturnType<typeof openStage>>;

/**
 * Returns the resources of a stage's stack as it is deployed, all or of one type. Only a stack that does not
 * exist has none.
 */
export const deployedResources = async (
  stage: Stage,
  { clients }: Pick<OpenedAccount, 'clients'>,
  type?: string,
) => {
  const client = clients.cloudformation();
  const pages = paginateListStackResources({ client }, { StackName: stackName(stage) });
  const found = await Array.fromAsync(pages).catch((error: unknown) => {
    if (isNoStack(error)) return [];
    throw error;
  });
  return found
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .filter(({ ResourceStatus }) => ResourceStatus !== 'DELETE_COMPLETE')
    .filter(({ ResourceType }) => type === undefined || ResourceType === type);
};

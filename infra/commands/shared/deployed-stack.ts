import { DescribeStacksCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { commitParameter, previousCommitParameter, stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { notOfAws, type OpenedAccount } from './open-account.ts';

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
 * Finds the stack of a stage in an opened account. Returns its id, its status, the commit that it has and the
 * one before, which are `unknown` if it was deployed without them, its outputs and the address of its API.
 * Returns undefined if there is no stack.
 */
export const findStack = async (stage: Stage, { clients }: Pick<OpenedAccount, 'clients'>) => {
  const command = new DescribeStacksCommand({ StackName: stackName(stage) });
  const response = await clients.cloudformation.send(command).catch((error: unknown) => {
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

/** Returns the resources of a stage's stack as it is deployed. */
export const deployedResources = async (
  stage: Stage,
  { clients: { cloudformation: client } }: Pick<OpenedAccount, 'clients'>,
) => {
  const pages = paginateListStackResources({ client }, { StackName: stackName(stage) });
  return (await Array.fromAsync(pages))
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .filter(({ ResourceStatus }) => ResourceStatus !== 'DELETE_COMPLETE');
};

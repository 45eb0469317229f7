import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { keyAdministration } from '../../../lib/keys/key-administration.ts';
import { localClientConfig } from '../../local/local-account.ts';
import { stackName } from '../../names.ts';
import { regionOf } from '../../region-of.ts';
import { type Stage, staging } from '../../stages.ts';

const keysIn = (client: DynamoDBClient, tableName: string, { apiKeyPrefix }: Stage) =>
  keyAdministration(DynamoDBDocumentClient.from(client), tableName, apiKeyPrefix);

/**
 * Opens the keys of the local service, whose DynamoDB is at the endpoint. Throws if nothing at the endpoint
 * speaks DynamoDB, or if there is no table of keys.
 */
export const openLocalKeys = async (endpoint: string) => {
  const client = new DynamoDBClient(localClientConfig(endpoint));
  const pages = await Array.fromAsync(paginateListTables({ client }, {})).catch((cause) => {
    const message = `${endpoint} is not DynamoDB: give the address that npm start prints`;
    throw new Error(message, { cause });
  });
  const tableName = pages
    .flatMap(({ TableNames = [] }) => TableNames)
    .find((name) => name.startsWith('KeysTable'));
  if (tableName === undefined) throw new Error(`There is no keys table at ${endpoint}`);
  return keysIn(client, tableName, staging);
};

/**
 * Opens the keys of a deployed stage, its address, the logs of its functions, and the region of all. Throws
 * when the credentials belong to another account, which could have a stack of the same name.
 */
export const openStage = async (stage: Stage) => {
  const config = regionOf(stage);
  const { Account } = await new STSClient(config).send(new GetCallerIdentityCommand());
  const { account = Account } = stage.environment ?? {};
  if (Account !== account)
    throw new Error(
      `The credentials belong to the account ${Account}, and the stage to ${account}`,
    );
  const command = new DescribeStacksCommand({ StackName: stackName(stage) });
  const { Stacks } = await new CloudFormationClient(config).send(command);
  const outputOf = (name: string): string => {
    const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name);
    if (output?.OutputValue !== undefined) return output.OutputValue;
    throw new Error(`The stack of ${stage.name} has no output ${name}: deploy it first`);
  };
  const keys = keysIn(new DynamoDBClient(config), outputOf('KeysTableName'), stage);
  return {
    keys,
    baseAddress: outputOf('BaseAddress'),
    logGroupNames: outputOf('LogGroupNames').split(','),
    config,
  };
};

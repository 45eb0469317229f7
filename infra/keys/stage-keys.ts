import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { KeyAdministration } from '../../lib/keys/key-administration.ts';
import { localClientConfig } from '../local/local-account.ts';
import { regionOf, type Stage, stackName } from '../stages.ts';

/** The keys of the local service, whose DynamoDB is at the endpoint. Throws if it has no table of keys. */
export const openLocalKeys = async (endpoint: string): Promise<KeyAdministration> => {
  const client = new DynamoDBClient(localClientConfig(endpoint));
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    const tableName = TableNames.find((name) => name.startsWith('KeysTable'));
    if (tableName !== undefined) return keysIn(client, tableName);
  }
  throw new Error('There is no keys table at this endpoint');
};

/**
 * The keys of a deployed stage, the logs of its functions, and the region of both.
 * Throws when the credentials belong to another account, which could have a stack of the same name.
 */
export const openStage = async (stage: Stage) => {
  const { environment } = stage;
  const config = regionOf(stage);
  if (environment) {
    const { Account } = await new STSClient(config).send(new GetCallerIdentityCommand());
    const { account } = environment;
    if (Account !== account)
      throw new Error(
        `The credentials belong to the account ${Account}, and the stage to ${account}`,
      );
  }
  const StackName = stackName(stage);
  const command = new DescribeStacksCommand({ StackName });
  const { Stacks } = await new CloudFormationClient(config).send(command);
  const outputOf = (name: string): string => {
    const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
    if (output !== undefined) return output;
    throw new Error(`${StackName} has no output ${name}: deploy it first`);
  };
  const keys = keysIn(new DynamoDBClient(config), outputOf('KeysTableName'));
  return { keys, logGroupNames: outputOf('LogGroupNames').split(','), config };
};

const keysIn = (client: DynamoDBClient, tableName: string) =>
  new KeyAdministration(DynamoDBDocumentClient.from(client), tableName);

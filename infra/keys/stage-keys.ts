import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { KeyAdministration } from '../../lib/keys/key-administration.ts';
import { localClientConfig } from '../local/local-account.ts';
import { emulated, type Stage, stackName } from '../stages.ts';

/** What clients of AWS need to reach a deployed stage. */
interface Config {
  readonly region?: string;
}

/** The keys of a stage that is deployed, and the logs of the functions that accept them. */
export interface DeployedStage {
  readonly keys: KeyAdministration;
  readonly logGroupNames: readonly string[];
  readonly config: Config;
}

/** The keys of the local service, whose DynamoDB is at the endpoint. Throws if it has no table of keys. */
export const openLocalKeys = async (endpoint: string): Promise<KeyAdministration> => {
  const client = new DynamoDBClient(localClientConfig(endpoint));
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    const tableName = TableNames.find((name) => name.startsWith('KeysTable'));
    if (tableName !== undefined) return keysIn(client, tableName);
  }
  throw new Error('There is no keys table at this endpoint');
};

/** Finds a deployed stage by the outputs of its stack. Throws when the credentials belong to another account. */
export const openStage = async (stage: Stage, isEmulator: boolean): Promise<DeployedStage> => {
  const { environment } = isEmulator ? emulated(stage) : stage;
  const config = environment ? { region: environment.region } : {};
  // Another account could have a stack of the same name.
  if (environment) await requireAccount(environment.account, config);
  const outputOf = await readOutputs(stackName(stage), config);
  return {
    keys: keysIn(new DynamoDBClient(config), outputOf('KeysTableName')),
    logGroupNames: outputOf('LogGroupNames').split(','),
    config,
  };
};

const keysIn = (client: DynamoDBClient, tableName: string) =>
  new KeyAdministration(DynamoDBDocumentClient.from(client), tableName);

const requireAccount = async (account: string, config: Config) => {
  const { Account } = await new STSClient(config).send(new GetCallerIdentityCommand());
  if (Account === account) return;
  throw new Error(`The credentials belong to the account ${Account}, and the stage to ${account}`);
};

const readOutputs = async (StackName: string, config: Config) => {
  const { Stacks } = await new CloudFormationClient(config).send(
    new DescribeStacksCommand({ StackName }),
  );
  return (name: string): string => {
    const value = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
    if (value === undefined) throw new Error(`${StackName} has no output ${name}: deploy it first`);
    return value;
  };
};

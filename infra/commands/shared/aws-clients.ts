import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import type { localClientConfig } from '../../local/local-account.ts';
import type { awsConfig } from './aws-config.ts';

/** The configuration of AWS, or of DynamoDB Local. */
type Config = ReturnType<typeof awsConfig> | ReturnType<typeof localClientConfig>;

/** Returns the clients of AWS that commands use, with one configuration. */
export const awsClients = (config: Config) => ({
  cloudformation: new CloudFormationClient(config),
  // A copy of a whole table is throttled at times.
  dynamodb: new DynamoDBClient({ ...config, maxAttempts: 6 }),
  ssm: new SSMClient(config),
  sts: new STSClient(config),
});

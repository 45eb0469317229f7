import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import type { localClientConfig } from '../../local/local-account.ts';
import type { awsConfig } from './aws-config.ts';

/** The configuration of AWS, or of DynamoDB Local. */
type Config = ReturnType<typeof awsConfig> | ReturnType<typeof localClientConfig>;

/** Returns a function that makes a value when it is first called, and returns the same one from then on. */
const once = <Value>(make: () => Value): (() => Value) => {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

/** Returns the clients of AWS that commands use, with one configuration. Each is made when it is first used. */
export const awsClients = (config: Config) => ({
  cloudformation: once(() => new CloudFormationClient(config)),
  // A copy of a whole table is throttled at times.
  dynamodb: once(() => new DynamoDBClient({ ...config, maxAttempts: 6 })),
  ssm: once(() => new SSMClient(config)),
  sts: once(() => new STSClient(config)),
});

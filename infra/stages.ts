import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ApiKeyPrefix } from '../lib/keys/api-key.ts';

/** What distinguishes one deployment of the service from another. */
export interface Stage {
  readonly name: string;
  /** The prefix of the API keys that this stage accepts. */
  readonly apiKeyPrefix: ApiKeyPrefix;
  /** What happens to tables and logs when the stack, or they, are removed from it. */
  readonly removalPolicy: RemovalPolicy;
  readonly deletionProtection: boolean;
  /** How far back the tables can be restored to any second, in days; 0 turns it off. */
  readonly pointInTimeRecoveryDays: number;
  readonly logRetention: RetentionDays;
  /** Memory of each function, in MiB; its share of CPU grows with it. */
  readonly memoryMiB: number;
  readonly timeout: Duration;
}

export const staging: Stage = {
  name: 'staging',
  apiKeyPrefix: 'pets_test',
  removalPolicy: RemovalPolicy.DESTROY,
  deletionProtection: false,
  pointInTimeRecoveryDays: 1,
  logRetention: RetentionDays.TWO_WEEKS,
  memoryMiB: 1024,
  timeout: Duration.seconds(10),
};

export const prod: Stage = {
  name: 'prod',
  apiKeyPrefix: 'pets_live',
  removalPolicy: RemovalPolicy.RETAIN,
  deletionProtection: true,
  pointInTimeRecoveryDays: 35,
  logRetention: RetentionDays.THREE_MONTHS,
  memoryMiB: 1024,
  timeout: Duration.seconds(10),
};

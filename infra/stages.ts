import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ApiKeyPrefix } from '../lib/contract/api-key.ts';
import type { OperationName } from '../lib/contract/operations.ts';

/** How many requests are let through: a second on average, and at once. */
export interface Throttle {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** What distinguishes one deployment of the service from another: plain values, so that every command can read them. */
export interface Stage {
  readonly name: 'staging' | 'prod';
  /** The only account and region that the stage is deployed to; without it, where the credentials lead. */
  readonly environment: Readonly<{ account: string; region: string }> | undefined;
  /** The prefix of the API keys that this stage accepts. */
  readonly apiKeyPrefix: ApiKeyPrefix;
  /** The domain that clients use, in place of API Gateway's own, and its certificate in this region. */
  readonly customDomain: Readonly<{ domainName: string; certificateArn: string }> | undefined;
  /** For each method of the API that has no throttle of its own. */
  readonly throttle: Throttle;
  /** By the name of the operation. */
  readonly operationThrottles: Readonly<Partial<Record<OperationName, Throttle>>>;
  /** Origins whose web pages may call the service, such as `https://store.example`; without any, CORS is off. */
  readonly corsOrigins: readonly string[];
  /** A firewall before the API: how many requests an address, and an API key, may send in 5 minutes. */
  readonly firewall: { requestsPerAddress: number; requestsPerApiKey: number } | undefined;
  /** Memory of each function, in MiB; its share of CPU grows with it. */
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  /** Execution environments that functions get, and no more; without it they share the account's. */
  readonly reservedConcurrency: Readonly<{ eachOperation: number; unrouted: number }> | undefined;
  /** How long a new version gets 10 % of the requests before it gets all; without a number it gets all at once. */
  readonly canaryMinutes: number | undefined;
  readonly logLevel: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly logRetentionDays: RetentionDays;
  readonly accessLogRetentionDays: RetentionDays;
  /**
   * E-mail addresses, HTTPS endpoints that page somebody, or ARNs of SNS topics that CloudWatch may publish to. Without
   * any, the stage has no alarms, no dashboard and no probe.
   */
  readonly alarmAddressees: readonly string[];
  /** Whether tables and logs outlive the stack that declares them. */
  readonly retainData: boolean;
  /** Whether DynamoDB refuses to delete the tables. */
  readonly deletionProtection: boolean;
  /** Whether CloudFormation refuses to delete the stack. */
  readonly terminationProtection: boolean;
  /** How far back the tables can be restored to any second, in days, at most 35; 0 turns it off. */
  readonly pointInTimeRecoveryDays: number;
  /** Request units a second that a table, and its index, takes at the most: a bound on what a mistake costs. */
  readonly maximumUnits: { readonly read: number; readonly write: number };
}

/** What stages share: what clients meet in prod they have met in staging. */
const base = {
  customDomain: undefined,
  corsOrigins: [],
  firewall: { requestsPerAddress: 10_000, requestsPerApiKey: 50_000 },
  memoryMiB: 1024,
  timeoutSeconds: 10,
  logLevel: 'INFO',
} satisfies Partial<Stage>;

export const staging: Stage = {
  ...base,
  name: 'staging',
  environment: { account: '111122223333', region: 'eu-west-1' },
  apiKeyPrefix: 'pets_test',
  throttle: { ratePerSecond: 100, burst: 200 },
  operationThrottles: {
    createPet: { ratePerSecond: 50, burst: 100 },
    getPet: { ratePerSecond: 50, burst: 100 },
  },
  reservedConcurrency: undefined,
  canaryMinutes: 1,
  logRetentionDays: 14,
  accessLogRetentionDays: 14,
  alarmAddressees: ['animal-store-staging@example.com'],
  retainData: false,
  deletionProtection: false,
  terminationProtection: false,
  pointInTimeRecoveryDays: 1,
  maximumUnits: { read: 400, write: 200 },
};

export const prod: Stage = {
  ...base,
  name: 'prod',
  environment: { account: '444455556666', region: 'eu-west-1' },
  apiKeyPrefix: 'pets_live',
  throttle: { ratePerSecond: 1_000, burst: 2_000 },
  operationThrottles: {
    createPet: { ratePerSecond: 200, burst: 400 },
    getPet: { ratePerSecond: 500, burst: 1_000 },
  },
  reservedConcurrency: { eachOperation: 100, unrouted: 20 },
  canaryMinutes: 10,
  logRetentionDays: 90,
  accessLogRetentionDays: 90,
  alarmAddressees: ['animal-store-on-call@example.com'],
  retainData: true,
  deletionProtection: true,
  terminationProtection: true,
  pointInTimeRecoveryDays: 35,
  maximumUnits: { read: 4_000, write: 1_000 },
};

/** Every stage of the service, by its name. */
export const stages: Readonly<Record<Stage['name'], Stage>> = { staging, prod };

/** A stage in an AWS-compatible emulator: in its own account, without what emulators lack, such as CodeDeploy. */
export const emulated = (stage: Stage): Stage => ({
  ...stage,
  environment: undefined,
  firewall: undefined,
  canaryMinutes: undefined,
  alarmAddressees: [],
  terminationProtection: false,
});

/** The region of a stage, as clients of the SDK take it; empty if the credentials decide. */
export const regionOf = ({ environment }: Pick<Stage, 'environment'>): { region?: string } =>
  environment ? { region: environment.region } : {};

/** What the stage is called wherever names must tell stages apart: its API, metrics, logs, alarms and dashboard. */
export const serviceName = ({ name }: Stage) => `animal-store-${name}`;

/** The SSM parameter, a SecureString, that holds the API key with which a stage checks itself. */
export const probeKeyParameter = ({ name }: Pick<Stage, 'name'>) =>
  `/animal-store/${name}/probe-api-key`;

/** Where alarms send their addressees: the path in this repository, or the address at which they can read it. */
export const runbook = 'infra/runbook.md';

/** The name of a stage's stack. */
export const stackName = ({ name }: Pick<Stage, 'name'>) => `AnimalStore-${name}`;

/** The name of the stack that an account needs once in a region, for any number of stages. */
export const accountStackName = 'AnimalStore-account';

/** What the CDK's commands call the account stack that a stage needs. */
export const accountStackId = ({ environment }: Pick<Stage, 'environment'>): string =>
  environment
    ? `${accountStackName}-${environment.account}-${environment.region}`
    : accountStackName;

/** What happens to prod without a value. */
const dangersInProd = [
  ['environment', 'it is deployed where the credentials lead'],
  ['retainData', 'tables are deleted with the stack'],
  ['deletionProtection', 'one call deletes a table'],
  ['terminationProtection', 'one call deletes the stack'],
  ['pointInTimeRecoveryDays', 'nothing can be restored'],
  ['alarmAddressees', 'no one hears an alarm'],
] as const;

/**
 * Throws, and names each reason, when no alarm could stop a canary, prod could lose data or fail unseen, or an origin for
 * CORS is not what browsers send: scheme, host and perhaps port, in lower case, and no path.
 */
export const requireSafe = (stage: Stage): void => {
  const isSet = (name: keyof Stage) => [stage[name]].flat().some(Boolean);
  // To a URL `*` and `'` are letters of a host like others; to API Gateway `'` ends a value.
  const isOrigin = (given: string) => URL.parse(given)?.origin === given && !/[*']/.test(given);
  const problems: string[] = [];
  if (isSet('canaryMinutes') && !isSet('alarmAddressees'))
    problems.push('canaryMinutes is set without alarmAddressees: no alarm can stop a canary');
  for (const [name, danger] of stage.name === 'prod' ? dangersInProd : [])
    if (!isSet(name)) problems.push(`${name} is not set, so ${danger}`);
  for (const given of stage.corsOrigins)
    if (!isOrigin(given)) problems.push(`corsOrigins: ${given} is not an origin`);
  if (problems.length > 0) throw new Error(`${stage.name} is unsafe: ${problems.join('; ')}.`);
};

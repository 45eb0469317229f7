import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { OperationName } from '../../lib/contract/routes.ts';
import type { ApiKeyPrefix } from '../../lib/keys/api-key.ts';
import type { Throttle } from '../../lib/operations/operation-details.ts';
import { detailsOf } from '../../lib/operations/operations.ts';

/** The window in which the firewall (AWS WAF) counts the requests of each client, in seconds. */
export const firewallWindowSec = 300;

/** The settings of one deployment of the service. They are plain values that every command can read. */
export interface Stage {
  /** Part of the names of its stack, alarms and logs. */
  readonly name: string;
  /** Whether the stage is one of an emulator. */
  readonly isEmulated?: true;
  /**
   * The account and region of the stage. Without an account, it can't be deployed. If all of it is
   * `undefined`, the stage is deployed to those of the credentials.
   */
  readonly env: Readonly<{ account?: string; region: string }> | undefined;
  /** The prefix of the API keys that this stage accepts: `pets_live` makes it one in production. */
  readonly apiKeyPrefix: ApiKeyPrefix;
  /**
   * The domain that clients use besides API Gateway's own address, and the ARN of its certificate, which ACM
   * has issued in the stage's region.
   */
  readonly customDomain: Readonly<{ domainName: string; certificateArn: string }> | undefined;
  /** The throttle of each method whose operation has none of its own in `lib/operations/`. */
  readonly throttle: Throttle;
  /**
   * Origins whose web pages may call the service, such as `https://store.example`. CORS
   * is off if there are none.
   */
  readonly corsOrigins: readonly string[];
  /**
   * The firewall: which share of `throttle` each address, and each API key, may use on average in a window.
   * This is at most half of the throttle of each operation, so that one client can use up an operation only
   * for a few minutes.
   */
  readonly firewall: { readonly clientShare: number } | undefined;
  /** The memory of each function, in MiB. Lambda gives a function CPU in proportion to its memory. */
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  /**
   * The reserved concurrency of each function, which is also its limit. Without it, all functions share the
   * concurrency of the account.
   */
  readonly reservedConcurrency: Readonly<{ eachOperation: number; fallback: number }> | undefined;
  /** Whether a new version has to respond correctly to a check before it gets requests of clients. */
  readonly checkBeforeTraffic: boolean;
  /**
   * For how many minutes a new version that passed its check gets 10 % of the requests, before it gets all.
   * Its alarms can roll it back meanwhile. Metrics come minutes late, so a canary of a few minutes finds
   * nothing.
   */
  readonly canaryMinutes: number;
  readonly logRetentionDays: RetentionDays;
  /**
   * Whether the API has an access log. The first deployment of such a stage in a region replaces the account's
   * role for logs, which is harmless, because these roles are alike, and stay.
   */
  readonly accessLog: boolean;
  /** Whether the stage has alarms, a dashboard, saved queries and a probe. */
  readonly monitoring: boolean;
  /**
   * The recipients of alarms: e-mail addresses, HTTPS endpoints of paging services, or ARNs of SNS topics to
   * which CloudWatch may publish. A permanent stage can't be deployed without one.
   */
  readonly alarmRecipients: readonly string[];
  /** Whether tables and logs outlive the stack that declares them. */
  readonly retainData: boolean;
  /** Whether DynamoDB refuses to delete the tables. */
  readonly deletionProtection: boolean;
  /** Whether CloudFormation refuses to delete the stack. */
  readonly terminationProtection: boolean;
  /** The days of point-in-time recovery of the tables, from 1 to 35. 0 turns it off. */
  readonly pointInTimeRecoveryDays: number;
}

/**
 * The number of requests that the firewall of a stage lets each address, and each API key, send in a window.
 */
export const firewallLimit = ({ firewall, throttle }: Stage): number =>
  firewall
    ? Math.round(throttle.ratePerSecond * firewallWindowSec * firewall.clientShare)
    : Number.POSITIVE_INFINITY;

/** Settings that all stages share, so that clients find the same behaviour in staging and in prod. */
const base = {
  customDomain: undefined,
  corsOrigins: [],
  memoryMiB: 1024,
  timeoutSeconds: 10,
} satisfies Partial<Stage>;

export const staging: Stage = {
  ...base,
  name: 'staging',
  env: { region: 'eu-west-1' },
  apiKeyPrefix: 'pets_test',
  throttle: { ratePerSecond: 100, burst: 200 },
  // More than in prod, because the acceptance tests send all their requests with one API key.
  firewall: { clientShare: 0.2 },
  reservedConcurrency: undefined,
  checkBeforeTraffic: true,
  canaryMinutes: 0,
  logRetentionDays: 14,
  accessLog: true,
  monitoring: true,
  alarmRecipients: [],
  retainData: false,
  deletionProtection: false,
  terminationProtection: true,
  pointInTimeRecoveryDays: 1,
};

export const prod: Stage = {
  ...base,
  name: 'prod',
  env: { region: 'eu-west-1' },
  apiKeyPrefix: 'pets_live',
  throttle: { ratePerSecond: 1_000, burst: 2_000 },
  firewall: { clientShare: 0.1 },
  reservedConcurrency: { eachOperation: 100, fallback: 20 },
  checkBeforeTraffic: true,
  canaryMinutes: 10,
  logRetentionDays: 90,
  accessLog: true,
  monitoring: true,
  alarmRecipients: [],
  retainData: true,
  deletionProtection: true,
  terminationProtection: true,
  pointInTimeRecoveryDays: 35,
};

/** The permanent stages, in the order of a release. Commands, and tests about each stage, read this list. */
export const stages: readonly Stage[] = [staging, prod];

/** The names of personal stages. The prefix tells them from permanent stages. */
const personalName = /^(?=.{5,20}$)dev(-[a-z0-9]+)+$/;

/**
 * Returns a personal stage, such as one to try a pull request. It has staging's settings, in the account and
 * region of the credentials, and nothing of it outlives its stack. Nothing monitors it, and so no check comes
 * before traffic. Throws for a name without the prefix `dev-`.
 */
const personalStage = (name: string): Stage => {
  if (!personalName.test(name))
    throw new Error(
      `There is no stage ${JSON.stringify(name)}. The name of a personal stage starts with dev-, and has up to 20 characters: a-z, 0-9 and single hyphens.`,
    );
  return {
    ...staging,
    name,
    env: undefined,
    customDomain: undefined,
    // It costs $11 a month.
    firewall: undefined,
    reservedConcurrency: undefined,
    checkBeforeTraffic: false,
    canaryMinutes: 0,
    // It would replace a role of the whole account.
    accessLog: false,
    monitoring: false,
    alarmRecipients: [],
    retainData: false,
    deletionProtection: false,
    terminationProtection: false,
    // DynamoDB keeps a backup of a deleted table that has it for 35 days:
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_beforeyoubegin.html
    pointInTimeRecoveryDays: 0,
  };
};

/**
 * The stage on which `npm run e2e:deploy` rehearses releases. Unlike other personal stages it has staging's
 * firewall, the check before traffic, which stops a bad release, and a canary with its alarms. The canary
 * shows that traffic moves in two steps. It is shorter than an alarm needs, so that the rehearsal does not
 * take longer.
 */
export const rehearsal: Stage = {
  ...personalStage('dev-rehearsal'),
  firewall: staging.firewall,
  checkBeforeTraffic: true,
  canaryMinutes: 1,
  monitoring: true,
};

/** The permanent stage of this name, the rehearsal, or a personal stage. Throws for any other name. */
export const stageNamed = (name: string): Stage =>
  [...stages, rehearsal].find((stage) => stage.name === name) ?? personalStage(name);

/** Whether a stage is personal, and not permanent. */
export const isPersonal = ({ name }: Stage): boolean =>
  !stages.some((stage) => stage.name === name);

/** Whether a stage serves clients in production: it accepts their keys. */
export const isProduction = ({ apiKeyPrefix }: Stage): boolean => apiKeyPrefix === 'pets_live';

/** The throttle of each method of an operation in a stage. */
export const throttleOf = (stage: Stage, name: OperationName): Throttle => {
  const { throttle } = detailsOf(name);
  return throttle?.[isProduction(stage) ? 'production' : 'testing'] ?? stage.throttle;
};

/**
 * Returns the stage for an AWS-compatible emulator. It is deployed to the emulator's account, without what
 * emulators lack, such as CodeDeploy.
 */
export const emulated = (stage: Stage): Stage => ({
  ...stage,
  isEmulated: true,
  env: undefined,
  customDomain: undefined,
  firewall: undefined,
  checkBeforeTraffic: false,
  canaryMinutes: 0,
  accessLog: false,
  monitoring: false,
  terminationProtection: false,
});

import { once } from 'node:events';
import { get } from 'node:https';
import { GetAccountCommand } from '@aws-sdk/client-api-gateway';
import { GetRoleCommand, NoSuchEntityException } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand } from '@aws-sdk/client-lambda';
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns';
import { GetParameterCommand, ParameterNotFound } from '@aws-sdk/client-ssm';
import { operations } from '../../lib/operations/operations.ts';
import { bootstrapVersionParameter } from '../settings/bootstrap.ts';
import { probeKeyParameter } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { deployedResources } from './deployed-stack.ts';
import type { OpenedAccount } from './open-account.ts';
import { stageWords } from './stage-option.ts';
import { messageOf } from './terminal.ts';

/** What `npm run deploy` can add to an account. */
export type Addition = 'bootstrap' | 'logRole';

/** Something that prevents a deployment. */
export interface Finding {
  /** What it is, with its solution. */
  readonly problem: string;
  /** What ends the problem. */
  readonly addition?: Addition | undefined;
}

/** Returns a line for each problem, with its solution. */
type Check = (stage: Stage, account: OpenedAccount) => Promise<readonly (string | false)[]>;

const findParameter = async ({ clients }: OpenedAccount, Name: string) => {
  try {
    const found = await clients.ssm().send(new GetParameterCommand({ Name }));
    return found.Parameter?.Value;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
};

/**
 * The first version of the CDK's bootstrap stack that writes no assets to another account's bucket:
 * https://github.com/aws/aws-cdk/pull/30823
 */
const minBootstrapVersion = 21;

const bootstrap: Check = async (stage, account) => {
  const version = await findParameter(account, bootstrapVersionParameter);
  const lack =
    version === undefined
      ? 'is missing'
      : `has version ${version}, and needs ${minBootstrapVersion}`;
  return [
    !(Number(version) >= minBootstrapVersion) &&
      `CDK's bootstrap ${lack}: npm run deploy -- ${stageWords(stage)}`,
  ];
};

/** Tells whether a role was deleted. Where GitHub's role may not ask that, it is unknown, and counts as no. */
const isDeleted = async ({ clients }: OpenedAccount, roleArn: string): Promise<boolean> => {
  try {
    await clients.iam().send(new GetRoleCommand({ RoleName: roleArn.split('/').at(-1) }));
    return false;
  } catch (error) {
    if (error instanceof NoSuchEntityException) return true;
    if (error instanceof Error && error.name === 'AccessDenied') return false;
    throw error;
  }
};

/**
 * Checks that API Gateway has a role to write logs, and that the role exists: API Gateway keeps one that was deleted
 * with the stack of another project, and then writes no access logs, without an error.
 * https://github.com/aws/aws-cdk/issues/10878
 */
const logRole: Check = async (stage, account) => {
  const { cloudwatchRoleArn: role } = await account.clients
    .apiGateway()
    .send(new GetAccountCommand());
  const solution = `npm run deploy -- ${stageWords(stage)}`;
  if (!role) return [`API Gateway has no role to write logs in this region: ${solution}`];
  return [
    (await isDeleted(account, role)) &&
      `The role ${role}, with which API Gateway writes logs, does not exist: ${solution}`,
  ];
};

/**
 * The concurrency that an account must leave unreserved.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
const unreservedConcurrency = 100;

/** Returns the concurrency that the deployed functions of a stage have reserved. */
const reservedBy = async (stage: Stage, account: OpenedAccount): Promise<number> => {
  const lambda = account.clients.lambda();
  const functions = await deployedResources(stage, account, 'AWS::Lambda::Function');
  let reserved = 0;
  for (const { PhysicalResourceId } of functions) {
    const command = new GetFunctionConcurrencyCommand({ FunctionName: PhysicalResourceId });
    reserved += (await lambda.send(command)).ReservedConcurrentExecutions ?? 0;
  }
  return reserved;
};

const concurrency: Check = async (stage, account) => {
  if (!stage.reservedConcurrency) return [];
  const { eachOperation, fallback } = stage.reservedConcurrency;
  const getSettings = new GetAccountSettingsCommand();
  const { AccountLimit } = await account.clients.lambda().send(getSettings);
  const quota = AccountLimit?.ConcurrentExecutions ?? 0;
  const unreserved = AccountLimit?.UnreservedConcurrentExecutions ?? quota;
  const ofOthers = quota - unreserved - (await reservedBy(stage, account));
  const own = operations.length * eachOperation + fallback;
  const needed = own + ofOthers + unreservedConcurrency;
  return [
    quota < needed &&
      `Lambda may run ${quota} instances at once, of which other functions have reserved ${ofOthers}, and ${stage.name} needs ${needed} in all: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${needed} --region ${account.region}, or lower reservedConcurrency in infra/settings/stages.ts.`,
  ];
};

/**
 * Checks that clients had a release's time to move to the domain before their old address is turned off, and
 * that the domain responds. Any status will do, so that a stage that fails can get a hotfix.
 */
const address: Check = async (stage, account) => {
  if (!stage.customDomain?.isOnlyAddress) return [];
  const { domainName } = stage.customDomain;
  const domains = await deployedResources(stage, account, 'AWS::ApiGateway::DomainName');
  if (!domains.some(({ PhysicalResourceId }) => PhysicalResourceId === domainName))
    return [
      `${stage.name} has no domain ${domainName} yet: release it without isOnlyAddress, point its DNS to the output DomainTarget, and set isOnlyAddress in a later release.`,
    ];
  const request = get(`https://${domainName}/`, {
    agent: account.config.requestHandler.httpsAgent,
    signal: AbortSignal.timeout(20_000),
  });
  const problem = await once(request, 'response').then(() => false as const, messageOf);
  request.destroy();
  return [
    problem !== false &&
      `https://${domainName} can't be reached (${problem}): point its DNS to the output DomainTarget, or release without isOnlyAddress.`,
  ];
};

/**
 * Checks that recipients confirmed their subscriptions and that the probe has a key. Returns no problem
 * before the first deployment, and none for a stage without recipients, which has no alarms and no probe. SNS
 * deletes a subscription that is not confirmed within 48 hours:
 * https://docs.aws.amazon.com/sns/latest/dg/sns-delete-subscription-topic.html
 */
const alarmsAndProbe: Check = async (stage, account) => {
  // The stack may have other topics. That of the alarms is in the construct `Monitoring`.
  const resourcesOfAlarms = async (type: string) =>
    (await deployedResources(stage, account, type)).filter(({ LogicalResourceId: id = '' }) =>
      id.startsWith('Monitoring'),
    );
  const [topic] = await resourcesOfAlarms('AWS::SNS::Topic');
  const TopicArn = topic?.PhysicalResourceId;
  if (TopicArn === undefined) return [];
  const command = new ListSubscriptionsByTopicCommand({ TopicArn });
  const { Subscriptions = [] } = await account.clients.sns().send(command);
  const declared = await resourcesOfAlarms('AWS::SNS::Subscription');
  const ended = declared.length - Subscriptions.length;
  return [
    ended > 0 &&
      `${ended} of the recipients of ${stage.name} no longer get alarms: aws sns subscribe --topic-arn ${TopicArn} --protocol <email or https> --notification-endpoint <address> --region ${account.region}`,
    ...Subscriptions.map(
      ({ Endpoint, SubscriptionArn }) =>
        SubscriptionArn === 'PendingConfirmation' &&
        `${Endpoint} has not confirmed the subscription to alarms: open the link in AWS's message, or take the recipient out of infra/settings/stages.ts.`,
    ),
    !(await findParameter(account, probeKeyParameter(stage))) &&
      `The probe has no API key: npm run keys -- issue --for-probe ${stageWords(stage)}`,
  ];
};

/** Checks whether a stage can be deployed to its account. Runs every check, even if another one fails. */
export const preflight = async (stage: Stage, account: OpenedAccount): Promise<Finding[]> => {
  const run = async (name: string, check: Check, addition?: Addition) => {
    try {
      const problems = (await check(stage, account)).filter((problem) => problem !== false);
      return problems.map((problem) => ({ problem, addition }));
    } catch (error) {
      return [{ problem: `Could not check ${name}: ${messageOf(error)}` }];
    }
  };
  const findings = await Promise.all([
    run('bootstrap', bootstrap, 'bootstrap'),
    run('logRole', logRole, 'logRole'),
    run('concurrency', concurrency),
    run('address', address),
    run('alarmsAndProbe', alarmsAndProbe),
  ]);
  return findings.flat();
};

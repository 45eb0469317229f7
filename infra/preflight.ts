import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { APIGatewayClient, GetAccountCommand } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { operations } from '../lib/contract/operations.ts';
import { accountStackId, probeKeyParameter, type Stage, stackName } from './stages.ts';

/** What a check found: a line for each problem, with how to solve it. */
type Check = (stage: Stage) => Promise<readonly string[]> | readonly string[];

const configOf = ({ environment }: Stage) => (environment ? { region: environment.region } : {});

const bootstrapCommand = ({ environment }: Stage) =>
  `npx cdk bootstrap aws://${environment ? `${environment.account}/${environment.region}` : '<account>/<region>'}`;

/** The error that AWS names so becomes undefined. */
const unless = async <Result>(name: string, call: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error && error.name === name) return undefined;
    throw error;
  }
};

const credentials: Check = async (stage) => {
  const { name, environment } = stage;
  if (!environment) return [];
  const { account, region } = environment;
  const { Account } = await new STSClient(configOf(stage)).send(new GetCallerIdentityCommand());
  const configured = process.env['AWS_REGION'];
  return [
    Account !== account &&
      `The credentials belong to the account ${Account}: use credentials of ${account}, the account of ${name}.`,
    configured !== undefined &&
      configured !== region &&
      `AWS_REGION is ${configured}: set it to ${region}, the region of ${name}.`,
  ].filter((problem) => problem !== false);
};

const findParameter = async (stage: Stage, Name: string) => {
  const call = new SSMClient(configOf(stage)).send(new GetParameterCommand({ Name }));
  return (await unless('ParameterNotFound', call))?.Parameter;
};

/** From version 21 on no asset is written to another account's bucket: https://github.com/aws/aws-cdk/pull/30823 */
const minBootstrapVersion = 21;

const bootstrap: Check = async (stage) => {
  const version = (await findParameter(stage, '/cdk-bootstrap/hnb659fds/version'))?.Value;
  if (version === undefined) return [`CDK is not bootstrapped: ${bootstrapCommand(stage)}`];
  if (Number(version) >= minBootstrapVersion) return [];
  return [
    `CDK's bootstrap has version ${version}, and needs ${minBootstrapVersion}: ${bootstrapCommand(stage)}`,
  ];
};

const logRole: Check = async (stage) => {
  const account = await new APIGatewayClient(configOf(stage)).send(new GetAccountCommand());
  if (account.cloudwatchRoleArn) return [];
  return [
    `API Gateway has no role to write logs in this region: npm run deploy -- ${accountStackId(stage)}`,
  ];
};

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html */
const unreservedConcurrency = 100;

const concurrency: Check = async (stage) => {
  if (!stage.reservedConcurrency) return [];
  const { eachOperation, unrouted } = stage.reservedConcurrency;
  const needed = operations.length * eachOperation + unrouted + unreservedConcurrency;
  const settings = await new LambdaClient(configOf(stage)).send(new GetAccountSettingsCommand());
  const quota = settings.AccountLimit?.ConcurrentExecutions ?? 0;
  if (quota >= needed) return [];
  return [
    `Lambda may run ${quota} instances at once, and ${stage.name} needs ${needed}: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${needed}, or lower reservedConcurrency in infra/stages.ts.`,
  ];
};

const certificate: Check = async (stage) => {
  if (!stage.customDomain) return [];
  const { domainName, certificateArn } = stage.customDomain;
  const request = `aws acm request-certificate --domain-name ${domainName} --validation-method DNS`;
  const [, , , region] = certificateArn.split(':');
  if (stage.environment && region !== stage.environment.region) {
    return [`The certificate is in ${region}, not in ${stage.environment.region}: ${request}`];
  }
  const found = await unless(
    'ResourceNotFoundException',
    new ACMClient(configOf(stage)).send(
      new DescribeCertificateCommand({ CertificateArn: certificateArn }),
    ),
  );
  if (!found?.Certificate) return [`There is no certificate ${certificateArn}: ${request}`];
  const { Status, SubjectAlternativeNames = [] } = found.Certificate;
  const parent = domainName.slice(domainName.indexOf('.'));
  return [
    Status !== 'ISSUED' &&
      `The certificate is ${Status}, not ISSUED: create the DNS records that its validation asks for.`,
    !SubjectAlternativeNames.some((name) => name === domainName || name === `*${parent}`) &&
      `The certificate covers ${SubjectAlternativeNames.join(', ')}, not ${domainName}: ${request}`,
  ].filter((problem) => problem !== false);
};

/** The topic of a stack; undefined before the first deployment. */
const topicOf = (stage: Stage): Promise<string | undefined> =>
  // There is no such stack.
  unless('ValidationError', findTopic(stage));

const findTopic = async (stage: Stage): Promise<string | undefined> => {
  const client = new CloudFormationClient(configOf(stage));
  for await (const page of paginateListStackResources(
    { client },
    { StackName: stackName(stage) },
  )) {
    const topic = page.StackResourceSummaries?.find(
      // A stack that was rolled back still lists what it has deleted.
      ({ ResourceType, ResourceStatus }) =>
        ResourceType === 'AWS::SNS::Topic' && ResourceStatus !== 'DELETE_COMPLETE',
    );
    if (topic) return topic.PhysicalResourceId;
  }
  return undefined;
};

/** Finds nothing before the first deployment, which subscribes the addressees. */
const addressees: Check = async (stage) => {
  const TopicArn = await topicOf(stage);
  if (TopicArn === undefined) return [];
  const { Subscriptions = [] } = await new SNSClient(configOf(stage)).send(
    new ListSubscriptionsByTopicCommand({ TopicArn }),
  );
  return Subscriptions.filter(
    ({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation',
  ).map(
    ({ Endpoint }) =>
      `${Endpoint} has not confirmed the subscription to alarms: open the link in AWS's message, or take the addressee out of infra/stages.ts.`,
  );
};

/** Finds nothing before the first deployment: a key needs the table of keys. */
const probeKey: Check = async (stage) => {
  if ((await topicOf(stage)) === undefined) return [];
  if (await findParameter(stage, probeKeyParameter(stage))) return [];
  return [`The probe has no API key: npm run keys -- issue --for-probe --stage ${stage.name}`];
};

/** Runs every check, also after one has failed. */
const problemsOf = async (stage: Stage, checks: Readonly<Record<string, Check>>) => {
  const problems = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return await check(stage);
      } catch (error) {
        return [`Could not check ${name}: ${error instanceof Error ? error.message : error}`];
      }
    }),
  );
  return problems.flat();
};

/**
 * What is in the way of deploying the stack of a stage, or of its account: a line for each problem. The other checks are
 * left out while the credentials are wrong.
 */
export const preflight = async (stage: Stage, stack: 'account' | 'stage') => {
  const problems = await problemsOf(stage, { credentials });
  if (problems.length > 0) return problems;
  if (stack === 'account') return problemsOf(stage, { bootstrap });
  return problemsOf(stage, { bootstrap, logRole, concurrency, certificate, addressees, probeKey });
};

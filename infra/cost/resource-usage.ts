import * as z from 'zod/mini';
import { Ref, type Template } from '../template/template.ts';
import type { prices } from './prices.ts';
import {
  keyLookup,
  logBytes,
  logCompression,
  petBytes,
  type RequestUsage,
  sampledShare,
} from './request-usage.ts';

/** What a stage does in a month. */
export interface Workload {
  readonly traffic: readonly (RequestUsage & { readonly requests: number })[];
  /** Pets that are kept. */
  readonly pets: number;
  /** Metrics that the functions write; each combination of dimensions is one. */
  readonly customMetrics: number;
}

interface Month {
  readonly template: Template;
  readonly workload: Workload;
}

/** How much a resource uses of what has a price. */
export interface Usage {
  readonly name: string;
  readonly price: keyof typeof prices;
  readonly quantity: number;
  readonly isFixed: boolean;
}

const usageThat =
  (isFixed: boolean) =>
  (name: string, price: Usage['price'], quantity: number): Usage => ({
    name,
    price,
    quantity,
    isFixed,
  });
/** A use that is the same for any traffic. */
export const fixed = usageThat(true);
const variable = usageThat(false);

const sum = <Value>(values: readonly Value[], of: (value: Value) => number): number =>
  values.reduce((total, value) => total + of(value), 0);

/** The resources of a type, whose schema admits no property that would cost more than `usage` says. */
const priced =
  <Schema extends z.ZodMiniType>(
    schema: Schema,
    usage: (properties: z.output<Schema>, month: Month) => Usage[],
  ) =>
  (properties: unknown, month: Month): Usage[] =>
    usage(schema.parse(properties), month);

const secondsPerMonth = 730 * 3_600;
const daysPerMonth = 730 / 24;
const gigabyte = 2 ** 30;
const absent = z.optional(z.undefined());

/** The ARN of a log group without a wildcard at its end, as the CDK writes it: a prefix, then its name. */
const LogGroupArn = z.object({ 'Fn::Join': z.tuple([z.string(), z.tuple([z.string(), Ref])]) });

const RestApiStage = z.object({
  TracingEnabled: z._default(z.boolean(), false),
  AccessLogSetting: z.optional(z.object({ DestinationArn: LogGroupArn })),
  CacheClusterEnabled: z.optional(z.literal(false)),
  // A method's own metrics are custom metrics.
  MethodSettings: z.optional(z.array(z.object({ MetricsEnabled: z.optional(z.literal(false)) }))),
});

const LambdaFunction = z.object({
  Handler: z.string(),
  MemorySize: z._default(z.number(), 128),
  Architectures: z.tuple([z.literal('arm64')]),
  // Without one Lambda makes a log group that keeps its lines for ever.
  LoggingConfig: z.object({ LogGroup: Ref, SystemLogLevel: z.optional(z.string()) }),
  EphemeralStorage: absent,
  SnapStart: absent,
});

const LogGroup = z.object({
  RetentionInDays: z.number(),
  LogGroupClass: z.optional(z.literal('STANDARD')),
});

const Table = z.object({
  KeySchema: z.array(z.object({ AttributeName: z.string() })),
  BillingMode: z.literal('PAY_PER_REQUEST'),
  TableClass: z.optional(z.literal('STANDARD')),
  GlobalSecondaryIndexes: z._default(z.array(z.unknown()), []),
  PointInTimeRecoverySpecification: z.optional(
    z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
  ),
  SSESpecification: absent,
  StreamSpecification: absent,
  KinesisStreamSpecification: absent,
});

const Alarm = z.object({
  // Shorter periods are dearer.
  Period: z.optional(z.number().check(z.gte(60))),
  Metrics: z.optional(
    z.array(
      z.object({
        MetricStat: z.optional(z.object({ Period: z.number().check(z.gte(60)) })),
        // A query can read any number of metrics.
        Expression: z.optional(z.string().check(z.regex(/^(?!\s*SELECT)/i))),
      }),
    ),
  ),
});

const WebAcl = z.object({
  Rules: z.array(
    z.object({
      Statement: z.object({
        ManagedRuleGroupStatement: z.optional(
          z.object({
            VendorName: z.literal('AWS'),
            // These have a price of their own.
            Name: z.string().check(z.regex(/^(?!.*(BotControl|ATPRuleSet|ACFPRuleSet|AntiDDoS))/)),
          }),
        ),
      }),
    }),
  ),
});

const restApi = priced(z.object({}), (_properties, { workload: { traffic } }) => {
  const responseBytes = sum(traffic, (kind) => kind.requests * kind.responseBytes);
  return [
    variable('REST API requests', 'restApiRequest', requestsOf(traffic)),
    variable('Responses to the internet', 'transferOut', responseBytes / gigabyte),
  ];
});

const restApiStage = priced(RestApiStage, (properties, { template, workload: { traffic } }) => {
  const { TracingEnabled, AccessLogSetting } = properties;
  const requests = requestsOf(traffic);
  const logGroup = AccessLogSetting?.DestinationArn['Fn::Join'][1][1].Ref;
  return [
    ...(TracingEnabled ? [variable('X-Ray traces', 'trace', tracedOf(requests))] : []),
    ...(logGroup ? logged(template, logGroup, requests * logBytes.access) : []),
  ];
});

const lambdaFunction = priced(LambdaFunction, (properties, { template, workload }) => {
  const {
    Handler,
    MemorySize,
    LoggingConfig: { LogGroup: logGroup, SystemLogLevel },
  } = properties;
  const traffic = workload.traffic.filter(
    ({ functionName }) => Handler === `${functionName}.handler`,
  );
  const requests = requestsOf(traffic);
  const seconds = sum(traffic, (kind) => kind.requests * kind.durationMs) / 1_000;
  const lineBytes = logBytes.request + (SystemLogLevel === 'WARN' ? 0 : logBytes.lambda);
  return [
    variable('Lambda requests', 'lambdaRequest', requests),
    variable('Lambda compute, arm64', 'lambdaArm', (seconds * MemorySize) / 1_024),
    ...logged(template, logGroup.Ref, requests * lineBytes),
  ];
});

const table = priced(Table, (properties, { workload: { traffic, pets } }) => {
  const {
    KeySchema: [partitionKey],
    GlobalSecondaryIndexes: indexes,
    PointInTimeRecoverySpecification: recovery,
  } = properties;
  if (partitionKey?.AttributeName === 'keyId') {
    // Its storage would cost a cent at 100,000 keys.
    const functions = new Set(traffic.map(({ functionName }) => functionName)).size;
    const lookups = functions * (secondsPerMonth / keyLookup.everySeconds);
    return [fixed('DynamoDB reads of keys', 'tableRead', lookups * keyLookup.readUnits)];
  }
  if (partitionKey?.AttributeName !== 'id')
    throw new Error('it is neither the pets table nor the keys table');
  const tableGigabytes = (pets * petBytes.table) / gigabyte;
  const indexGigabytes = (pets * petBytes.index * indexes.length) / gigabyte;
  return [
    variable(
      'DynamoDB reads of pets',
      'tableRead',
      sum(traffic, (kind) => kind.requests * kind.readUnits),
    ),
    variable(
      'DynamoDB writes of pets',
      'tableWrite',
      sum(traffic, (kind) => kind.requests * kind.writeUnits),
    ),
    fixed('DynamoDB storage', 'tableStorage', tableGigabytes + indexGigabytes),
    ...(recovery?.PointInTimeRecoveryEnabled
      ? [fixed('Point-in-time recovery', 'tableRecovery', tableGigabytes)]
      : []),
  ];
});

const alarm = priced(Alarm, ({ Metrics }) => [
  fixed(
    'Alarm metrics',
    'alarmMetric',
    Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1,
  ),
]);

const webAcl = priced(WebAcl, ({ Rules }, { workload: { traffic } }) => [
  fixed('Web ACLs', 'webAcl', 1),
  fixed('Web ACL rules', 'webAclRule', Rules.length),
  variable('Web ACL requests', 'webAclRequest', requestsOf(traffic)),
]);

/** What the price of a resource rests on, by its type. */
export const pricedTypes = new Map<string, (properties: unknown, month: Month) => Usage[]>([
  ['AWS::ApiGateway::RestApi', restApi],
  ['AWS::ApiGateway::Stage', restApiStage],
  ['AWS::CloudWatch::Alarm', alarm],
  ['AWS::CloudWatch::Dashboard', priced(z.object({}), () => [fixed('Dashboards', 'dashboard', 1)])],
  ['AWS::DynamoDB::Table', table],
  ['AWS::Lambda::Alias', priced(z.object({ ProvisionedConcurrencyConfig: absent }), () => [])],
  ['AWS::Lambda::Function', lambdaFunction],
  // What is written to it is counted with who writes it.
  ['AWS::Logs::LogGroup', priced(LogGroup, () => [])],
  ['AWS::WAFv2::WebACL', webAcl],
]);

/**
 * Types of resources that cost nothing by themselves. Of alarms by e-mail 1,000 a month are free, and 100,000 cost $2
 * (https://aws.amazon.com/sns/pricing/); CodeDeploy is free for Lambda (https://aws.amazon.com/codedeploy/pricing/).
 */
export const freeTypes: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Method',
  'AWS::ApiGateway::Resource',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  // Its log has lines only of requests that the firewall blocks or counts.
  'AWS::WAFv2::LoggingConfiguration',
  'AWS::WAFv2::WebACLAssociation',
]);

const requestsOf = (traffic: Workload['traffic']): number =>
  sum(traffic, ({ requests }) => requests);

/** Log lines of a month, and what a log group keeps of them once the first ones have reached its retention. */
const logged = (template: Template, logGroupId: string, bytes: number): Usage[] => {
  const { data: logGroup } = LogGroup.safeParse(template.Resources[logGroupId]?.Properties);
  if (!logGroup)
    throw new Error(`its log group ${logGroupId} must be a standard one with a retention`);
  const gigabytes = bytes / gigabyte;
  const months = logGroup.RetentionInDays / daysPerMonth;
  return [
    variable('Log lines written', 'logIngestion', gigabytes),
    variable('Log lines kept', 'logStorage', gigabytes * logCompression * months),
  ];
};

/** At an even rate each second has a first request, so up to one request a second all are traced. */
const tracedOf = (requests: number): number => {
  const first = Math.min(requests, secondsPerMonth);
  return first + sampledShare * (requests - first);
};

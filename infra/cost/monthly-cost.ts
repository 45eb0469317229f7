import * as z from 'zod/mini';
import { Ref, type Template } from '../template/template.ts';
import { type Price, prices } from './prices.ts';
import {
  keyLookup,
  logBytes,
  logCompression,
  petBytes,
  probe,
  type RequestUsage,
  sampledShare,
} from './request-usage.ts';

/** What a stage does in a month. */
export interface Workload {
  readonly traffic: readonly (RequestUsage & { readonly requests: number })[];
  /** Stored pets. */
  readonly pets: number;
  /** Metrics that the functions write; each combination of dimensions is one. */
  readonly customMetrics: number;
}

/** One line of a month's bill. */
export interface CostItem {
  readonly name: string;
  readonly quantity: number;
  readonly price: Price;
  /** Whether it is the same for any traffic. */
  readonly isFixed: boolean;
  readonly usd: number;
}

/**
 * What the resources of a stack cost in a month, each item once. Throws when a resource has a type or a property whose
 * price is not known, and names it.
 */
export const monthlyCost = (template: Template, workload: Workload): CostItem[] => {
  const usages = Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
    if (freeTypes.has(Type)) return [];
    const usageOf = pricedTypes.get(Type);
    if (!usageOf)
      throw new Error(
        `No price is known for ${Type} (${id}): add it to infra/cost/monthly-cost.ts.`,
      );
    try {
      return usageOf(Properties, { ...workload, template });
    } catch (cause) {
      throw new Error(`No price is known for ${Type} (${id}) as it is: ${reasonOf(cause)}`, {
        cause,
      });
    }
  });
  const items = new Map<string, CostItem>();
  for (const usage of [
    ...usages,
    fixed('Custom metrics', 'customMetric', workload.customMetrics),
  ]) {
    const quantity = (items.get(usage.name)?.quantity ?? 0) + usage.quantity;
    const price: Price = prices[usage.price];
    items.set(usage.name, { ...usage, quantity, price, usd: (quantity / price.units) * price.usd });
  }
  return [...items.values()];
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof z.core.$ZodError)) return error instanceof Error ? error.message : '';
  return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
};

type Month = Workload & { readonly template: Template };

/** How much a resource uses of what has a price. */
interface Usage extends Pick<CostItem, 'name' | 'quantity' | 'isFixed'> {
  readonly price: keyof typeof prices;
}

/** Usage that grows with the requests. */
const variable = (name: string, price: Usage['price'], quantity: number): Usage => ({
  name,
  price,
  quantity,
  isFixed: false,
});
const fixed: typeof variable = (...usage) => ({ ...variable(...usage), isFixed: true });

type Traffic = Workload['traffic'];
const sum = (traffic: Traffic, of: (kind: RequestUsage) => number | undefined = () => 1): number =>
  traffic.reduce((total, kind) => total + kind.requests * (of(kind) ?? 0), 0);

const secondsPerMonth = 730 * 3_600;
const daysPerMonth = 730 / 24;
const gigabyte = 2 ** 30;
const absent = z.optional(z.undefined());
const oneMinute = z.optional(z.number().check(z.gte(60)));

/** Prices the resources of a type. The schema refuses properties that would cost more than `usage` says. */
const priced =
  <Schema extends z.ZodMiniType>(
    schema: Schema,
    usage: (properties: z.output<Schema>, month: Month) => Usage[] = () => [],
  ) =>
  (properties: unknown, month: Month): Usage[] =>
    usage(schema.parse(properties), month);

const restApi = priced(z.object({}), (_properties, { traffic }) => [
  variable('REST API requests', 'restApiRequest', sum(traffic)),
  variable(
    'Responses to the internet',
    'transferOut',
    sum(traffic, ({ responseBytes }) => responseBytes) / gigabyte,
  ),
]);

const restApiStage = priced(
  z.object({
    TracingEnabled: z._default(z.boolean(), false),
    AccessLogSetting: z.optional(
      // The ARN of a log group without a wildcard at its end, as the CDK writes it: a prefix, then its name.
      z.object({
        DestinationArn: z.object({ 'Fn::Join': z.tuple([z.string(), z.tuple([z.string(), Ref])]) }),
      }),
    ),
    CacheClusterEnabled: z.optional(z.literal(false)),
    // A method's own metrics are custom metrics.
    MethodSettings: z.optional(z.array(z.object({ MetricsEnabled: z.optional(z.literal(false)) }))),
  }),
  ({ TracingEnabled, AccessLogSetting }, { template, traffic }) => {
    const requests = sum(traffic);
    const logGroup = AccessLogSetting?.DestinationArn['Fn::Join'][1][1].Ref;
    return [
      ...(TracingEnabled ? [variable('X-Ray traces', 'trace', tracedOf(requests))] : []),
      ...(logGroup ? logged(template, logGroup, requests * logBytes.access) : []),
    ];
  },
);

const lambdaFunction = priced(
  z.object({
    Handler: z.string(),
    MemorySize: z._default(z.number(), 128),
    Architectures: z.tuple([z.literal('arm64')]),
    // Without it Lambda creates a log group that never expires.
    LoggingConfig: z.object({ LogGroup: Ref, SystemLogLevel: z.optional(z.string()) }),
    EphemeralStorage: absent,
    SnapStart: absent,
  }),
  ({ Handler, MemorySize, LoggingConfig }, { template, traffic }) => {
    const own = traffic.filter(({ functionName }) => Handler === `${functionName}.handler`);
    const seconds = sum(own, ({ durationMs }) => durationMs) / 1_000;
    const lineBytes =
      logBytes.request + (LoggingConfig.SystemLogLevel === 'WARN' ? 0 : logBytes.lambda);
    return [
      variable('Lambda requests', 'lambdaRequest', sum(own)),
      variable('Lambda compute, arm64', 'lambdaArm', (seconds * MemorySize) / 1_024),
      ...logged(template, LoggingConfig.LogGroup.Ref, sum(own) * lineBytes),
    ];
  },
);

const LogGroup = z.object({
  RetentionInDays: z.number(),
  LogGroupClass: z.optional(z.literal('STANDARD')),
});

const table = priced(
  z.object({
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
  }),
  ({ KeySchema, GlobalSecondaryIndexes, PointInTimeRecoverySpecification }, { traffic, pets }) => {
    const partitionKey = KeySchema[0]?.AttributeName;
    if (partitionKey === 'keyId') {
      // Storage is left out: a cent at 100,000 keys.
      const functions = new Set(traffic.map(({ functionName }) => functionName)).size;
      const lookups = functions * (secondsPerMonth / keyLookup.everySeconds);
      return [fixed('DynamoDB reads of keys', 'tableRead', lookups * keyLookup.readUnits)];
    }
    if (partitionKey !== 'id') throw new Error('it is neither the pets table nor the keys table');
    const tableGigabytes = (pets * petBytes.table) / gigabyte;
    const indexGigabytes = (pets * petBytes.index * GlobalSecondaryIndexes.length) / gigabyte;
    return [
      variable(
        'DynamoDB reads of pets',
        'tableRead',
        sum(traffic, ({ readUnits }) => readUnits),
      ),
      variable(
        'DynamoDB writes of pets',
        'tableWrite',
        sum(traffic, ({ writeUnits }) => writeUnits),
      ),
      fixed('DynamoDB storage', 'tableStorage', tableGigabytes + indexGigabytes),
      ...(PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled
        ? [fixed('Point-in-time recovery', 'tableRecovery', tableGigabytes)]
        : []),
    ];
  },
);

const alarm = priced(
  z.object({
    // Shorter periods cost more.
    Period: oneMinute,
    Metrics: z.optional(
      z.array(
        z.object({
          MetricStat: z.optional(z.object({ Period: oneMinute })),
          // A query can read any number of metrics.
          Expression: z.optional(z.string().check(z.regex(/^(?!\s*SELECT)/i))),
        }),
      ),
    ),
  }),
  ({ Metrics = [{ MetricStat: {} }] }) => [
    fixed('Alarm metrics', 'alarmMetric', Metrics.filter(({ MetricStat }) => MetricStat).length),
  ],
);

/** The rule that starts the probe, priced as the probe. Unverified: that the rule is free; as custom events it would cost 4 cents. */
const probeSchedule = priced(
  z.object({ ScheduleExpression: z.literal('rate(1 minute)'), EventPattern: absent }),
  () => {
    const { perMonth, durationMs, memoryMiB } = probe;
    const seconds = (perMonth * durationMs) / 1_000;
    return [
      fixed('Probe: REST API requests', 'restApiRequest', perMonth),
      fixed('Probe: Lambda requests', 'lambdaRequest', 2 * perMonth),
      fixed('Probe: Lambda compute, arm64', 'lambdaArm', (seconds * memoryMiB) / 1_024),
      fixed('Probe: X-Ray traces', 'trace', 2 * perMonth),
      fixed('Probe: log lines', 'logIngestion', (perMonth * probe.logBytes) / gigabyte),
    ];
  },
);

const webAcl = priced(
  z.object({
    Rules: z.array(
      z.object({
        Statement: z.object({
          ManagedRuleGroupStatement: z.optional(
            z.object({
              VendorName: z.literal('AWS'),
              // These have a price of their own.
              Name: z
                .string()
                .check(z.regex(/^(?!.*(BotControl|ATPRuleSet|ACFPRuleSet|AntiDDoS))/)),
            }),
          ),
        }),
      }),
    ),
  }),
  ({ Rules }, { traffic }) => [
    fixed('Web ACLs', 'webAcl', 1),
    fixed('Web ACL rules', 'webAclRule', Rules.length),
    variable('Web ACL requests', 'webAclRequest', sum(traffic)),
  ],
);

/** How resources are priced, by their type. */
const pricedTypes = new Map<string, (properties: unknown, month: Month) => Usage[]>([
  ['AWS::ApiGateway::RestApi', restApi],
  ['AWS::ApiGateway::Stage', restApiStage],
  ['AWS::CloudWatch::Alarm', alarm],
  ['AWS::CloudWatch::Dashboard', priced(z.object({}), () => [fixed('Dashboards', 'dashboard', 1)])],
  ['AWS::DynamoDB::Table', table],
  ['AWS::Events::Rule', probeSchedule],
  ['AWS::Lambda::Alias', priced(z.object({ ProvisionedConcurrencyConfig: absent }))],
  ['AWS::Lambda::Function', lambdaFunction],
  // Its lines are priced with the resource that writes them.
  ['AWS::Logs::LogGroup', priced(LogGroup)],
  ['AWS::WAFv2::WebACL', webAcl],
]);

/**
 * Types of resources that are free. Of e-mails 1,000 a month are free (https://aws.amazon.com/sns/pricing/), CodeDeploy is
 * free for Lambda (https://aws.amazon.com/codedeploy/pricing/), and the firewall logs only requests that it blocks or counts.
 */
const freeTypes: ReadonlySet<string> = new Set(
  Object.entries({
    ApiGateway: [
      'BasePathMapping',
      'Deployment',
      'DomainName',
      'GatewayResponse',
      'Method',
      'Resource',
    ],
    CodeDeploy: ['Application', 'DeploymentConfig', 'DeploymentGroup'],
    IAM: ['ManagedPolicy', 'Policy', 'Role'],
    Lambda: ['Permission', 'Version'],
    SNS: ['Subscription', 'Topic', 'TopicPolicy'],
    WAFv2: ['LoggingConfiguration', 'WebACLAssociation'],
  }).flatMap(([service, types]) => types.map((type) => `AWS::${service}::${type}`)),
);

/** Log lines of a month, and those that a log group keeps when its oldest expire. */
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

/** At an even rate, every request is traced up to one request a second. */
const tracedOf = (requests: number): number => {
  const first = Math.min(requests, secondsPerMonth);
  return first + sampledShare * (requests - first);
};

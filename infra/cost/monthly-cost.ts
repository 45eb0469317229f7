import * as z from 'zod/mini';
import { resourcesOf, type Template } from '../template/template.ts';
import { type Price, prices } from './prices.ts';
import {
  customMetrics,
  keyReadUnits,
  logBytes,
  logCompression,
  petBytes,
  probe,
  type RequestUsage,
  sampledShare,
  storedPets,
} from './request-usage.ts';

/**
 * Types of resources that are priced below, or free. 1,000 e-mails a month are free (https://aws.amazon.com/sns/pricing/),
 * CodeDeploy is free for Lambda (https://aws.amazon.com/codedeploy/pricing/), and the firewall logs only requests that it
 * blocks or counts.
 */
const knownTypes = [
  /^AWS::ApiGateway::(BasePathMapping|Deployment|DomainName|GatewayResponse|Method|Resource)$/,
  /^AWS::ApiGateway::(RestApi|Stage)$/,
  /^AWS::(CodeDeploy|IAM|SNS)::/,
  /^AWS::(CloudWatch::(Alarm|Dashboard)|DynamoDB::Table|Events::Rule|Logs::LogGroup)$/,
  /^AWS::Lambda::(Alias|Function|Permission|Version)$/,
  /^AWS::WAFv2::(LoggingConfiguration|WebACL|WebACLAssociation)$/,
];

/** Properties of resources that have a price of their own, which is not known here. */
const unknownProperties =
  /^(CacheClusterEnabled|EphemeralStorage|ProvisionedConcurrencyConfig|SnapStart|SSESpecification|(Kinesis)?StreamSpecification)$/;

const Table = z.object({
  BillingMode: z.literal('PAY_PER_REQUEST'),
  GlobalSecondaryIndexes: z._default(z.array(z.unknown()), []),
  PointInTimeRecoverySpecification: z.optional(z.unknown()),
});

const Alarm = z.object({
  // An alarm on a single metric has none.
  Metrics: z._default(z.array(z.object({ MetricStat: z.optional(z.unknown()) })), [
    { MetricStat: {} },
  ]),
});

const secondsPerMonth = 730 * 3_600;
const daysPerMonth = 730 / 24;
const gigabyte = 2 ** 30;

/** The month's cost of a stack by price, each with its quantity. Throws for a resource without a known price. */
export const monthlyCost = (
  template: Template,
  traffic: readonly (RequestUsage & { readonly requests: number })[],
) => {
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    const property = Object.keys(Properties).find((name) => unknownProperties.test(name));
    if (property || !knownTypes.some((known) => known.test(Type)))
      throw new Error(`No price is known for ${property ?? 'the type'} of ${Type} ${id}`);
  }
  const all = <Schema extends z.ZodMiniType>(type: string, schema: Schema) => [
    ...resourcesOf(template, `AWS::${type}`, schema).values(),
  ];
  const sum = (usage: (kind: RequestUsage) => number | undefined) =>
    traffic.reduce((total, kind) => total + kind.requests * (usage(kind) ?? 0), 0);

  const requests = sum(() => 1);
  const rules = all('Events::Rule', z.object({ ScheduleExpression: z.literal('rate(1 minute)') }));
  // Unverified: the rule is free. At the price of custom events it would cost 4 cents.
  const probes = rules.length * probe.perMonth;
  const functions = all(
    'Lambda::Function',
    z.object({ Handler: z.string(), MemorySize: z.number() }),
  );
  const gibSeconds = ({ handler, durationMs }: RequestUsage) => {
    const found = functions.find(({ Handler }) => Handler === `${handler}.handler`);
    return (durationMs / 1_000) * ((found?.MemorySize ?? 0) / 1_024);
  };
  const tables = all('DynamoDB::Table', Table);
  const recoverable = tables.some((table) => table.PointInTimeRecoverySpecification);
  const indexes = tables.flatMap(({ GlobalSecondaryIndexes }) => GlobalSecondaryIndexes);
  const storedGigabytes = (itemBytes: number) => (storedPets * itemBytes) / gigabyte;
  const logGigabytes = (requests * logBytes.request + probes * logBytes.probe) / gigabyte;
  const logGroups = all('Logs::LogGroup', z.object({ RetentionInDays: z.number() }));
  const retentionDays = Math.max(0, ...logGroups.map(({ RetentionInDays }) => RetentionInDays));
  const alarmMetrics = all('CloudWatch::Alarm', Alarm).flatMap(({ Metrics }) => Metrics);
  // X-Ray traces one request a second, and a share of the others. This assumes an even rate.
  const untraced = Math.max(0, requests - secondsPerMonth) * (1 - sampledShare);
  const firewalls = all('WAFv2::WebACL', z.object({ Rules: z.array(z.unknown()) }));

  const usages: readonly (readonly [Price, number])[] = [
    [prices.restApiRequest, requests + probes],
    [prices.transferOut, sum(({ responseBytes }) => responseBytes) / gigabyte],
    // The probe, and the function that responds to it.
    [prices.lambdaRequest, requests + 2 * probes],
    [prices.lambdaArm, sum(gibSeconds) + probes * gibSeconds(probe)],
    // X-Ray traces the probe and its request, because each is the first request of a second.
    [prices.trace, requests - untraced + 2 * probes],
    [prices.tableRead, sum(({ readUnits }) => readUnits) + keyReadUnits],
    [prices.tableWrite, sum(({ writeUnits }) => writeUnits)],
    [prices.tableStorage, storedGigabytes(petBytes.table + indexes.length * petBytes.index)],
    [prices.tableRecovery, recoverable ? storedGigabytes(petBytes.table) : 0],
    [prices.logIngestion, logGigabytes],
    [prices.logStorage, logGigabytes * logCompression * (retentionDays / daysPerMonth)],
    [prices.customMetric, customMetrics],
    [prices.alarmMetric, alarmMetrics.filter(({ MetricStat }) => MetricStat).length],
    [prices.dashboard, all('CloudWatch::Dashboard', z.object({})).length],
    [prices.webAcl, firewalls.length],
    [prices.webAclRule, firewalls.flatMap(({ Rules }) => Rules).length],
    [prices.webAclRequest, firewalls.length * requests],
  ];
  return usages.map(([price, count]) => {
    const quantity = count / price.units;
    return { price, quantity, usd: quantity * price.usd };
  });
};

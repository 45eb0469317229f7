import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { operations } from '../../lib/operations/operations.ts';
import { metricNames } from '../../lib/telemetry/metric-names.ts';
import { serviceName } from '../settings/names.ts';
import { runbookLink } from '../settings/owner.ts';
import type { Stage } from '../settings/stages.ts';
import { acknowledge } from './security-checks.ts';
import { type MonitoredService, serviceMetric, sumOf, tableMetric } from './service-metrics.ts';

interface ServiceAlarmProps extends Omit<AlarmProps, 'evaluationPeriods'> {
  /** A sentence that says what has happened and who is affected. */
  readonly meaning: string;
  /** The heading of the runbook that says what to do. The default is the name of the alarm. */
  readonly runbookEntry?: string;
  /** The number of the newest periods that are looked at. The default is 1. */
  readonly evaluationPeriods?: number;
  /**
   * The number of the version that the alarm watches, which ends its name. So each version has an alarm of
   * its own. An alarm that is updated keeps its state, so a new version would inherit that of the old one.
   * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
   */
  readonly version?: string;
}

/** The alarms of a stage, each with its recipients and its entry in the runbook. */
export class Monitoring extends Construct {
  /** All alarms that were added so far. */
  readonly alarms: Alarm[] = [];
  readonly #stage: Stage;
  readonly #recipients: SnsAction[];

  constructor(scope: Construct, id: string, service: MonitoredService) {
    super(scope, id);
    this.#stage = service.stage;
    this.#recipients = this.#addTopics().map((topic) => new SnsAction(topic));
    for (const [name, alarm] of Object.entries(alarmsOf(service, Stack.of(this).region)))
      this.addAlarm(name, alarm);
  }

  /** Adds an alarm named `animal-store-<stage>-<name>[-<version>]` that notifies the stage's recipients. */
  addAlarm(name: string, props: ServiceAlarmProps): Alarm {
    const { meaning, runbookEntry = name, version, ...condition } = props;
    const alarmName = `${serviceName(this.#stage)}-${name}`;
    const alarm = new Alarm(this, name, {
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...condition,
      alarmName: version === undefined ? alarmName : `${alarmName}-${version}`,
      alarmDescription: `${meaning} Before you start: ${runbookLink}#before-you-start Runbook: ${runbookLink}#${runbookEntry}`,
    });
    alarm.addAlarmAction(...this.#recipients);
    alarm.addOkAction(...this.#recipients);
    this.alarms.push(alarm);
    return alarm;
  }

  /** Returns the stage's own topic with its subscribers, and the topics among its recipients. */
  #addTopics(): ITopic[] {
    // The topic is not encrypted with a KMS key. A mistake in the key's policy would silence every alarm, and
    // e-mail is plain text anyway.
    const displayName = serviceName(this.#stage);
    const topic = new Topic(this, 'Topic', { displayName, enforceSSL: true });
    // The policy of `enforceSSL` replaces the default policy, which allows CloudWatch to publish.
    const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
    acknowledge(topic, {
      'Serverless-SNSRedrivePolicy': 'A queue of failed mails would have no reader.',
    });
    const topics: ITopic[] = [topic];
    for (const address of this.#stage.alarmRecipients ?? []) {
      if (address.startsWith('arn:')) topics.push(Topic.fromTopicArn(this, address, address));
      else if (address.startsWith('https:')) topic.addSubscription(new UrlSubscription(address));
      else topic.addSubscription(new EmailSubscription(address));
    }
    return topics;
  }
}

/** The limits at which the alarms go off. The description of each alarm says its own. */
const limits = {
  serverErrors: 5,
  serverErrorPercent: 1,
  requestsForLatency: 20,
  latencyMs: 1_000,
  crashes: 3,
  rejectedInvocations: 5,
  throttledCalls: 5,
  refusedKeys: 100,
  blockedRequests: 300,
} as const;

/** The periods of an alarm for which a single bad minute is no reason to wake anyone. */
export const mostPeriods = { evaluationPeriods: 5, datapointsToAlarm: 3 } as const;

/** How the description of an alarm with these periods, of a minute each, begins. */
export const inMostMinutes = `In ${mostPeriods.datapointsToAlarm} of ${mostPeriods.evaluationPeriods} minutes`;

/** Returns the alarms on what clients notice, and the alarms on its causes. */
const alarmsOf = (service: MonitoredService, region: string) => {
  const { stage, restApi, tables } = service;
  const functions = [...service.functions.values()];
  const indexes = tables.flatMap(({ table, indexNames }) =>
    indexNames.map((name) => ({ name, table })),
  );
  const indexNames = indexes.map(({ name }) => name);
  return {
    'server-errors': {
      meaning: `In 5 minutes, ${limits.serverErrors} requests or more got a 5xx, and these were at least ${limits.serverErrorPercent} % of all requests.`,
      metric: new MathExpression({
        // A single failure at night can be half of the requests, and must not wake anyone.
        expression: `IF(errors >= ${limits.serverErrors}, 100 * errors / requests, 0)`,
        usingMetrics: { errors: restApi.metricServerError(), requests: restApi.metricCount() },
      }),
      threshold: limits.serverErrorPercent,
    },
    latency: {
      meaning: `${inMostMinutes} that had ${limits.requestsForLatency} requests or more, the slowest 1 % took ${limits.latencyMs} ms or more: clients wait, and may give up.`,
      metric: new MathExpression({
        // When there are few requests, the slowest 1 % is a single request, such as a cold start at night.
        expression: `IF(requests >= ${limits.requestsForLatency}, p99, 0)`,
        usingMetrics: {
          p99: restApi.metricLatency({ statistic: 'p99' }),
          requests: restApi.metricCount(),
        },
        period: Duration.minutes(1),
      }),
      threshold: limits.latencyMs,
      ...mostPeriods,
    },
    ...alarmsOnSum('function-crashes', {
      meaning: `In 5 minutes, functions crashed or timed out ${limits.crashes} times or more: clients got 502, 503 or 504, and a pet may have been stored before the crash.`,
      metrics: functions.map(({ lambda }) => lambda.metricErrors()),
      threshold: limits.crashes,
    }),
    ...alarmsOnSum('function-throttles', {
      meaning: `In 5 minutes, Lambda rejected ${limits.rejectedInvocations} requests or more, because a function had reached its concurrency: clients got 503.`,
      metrics: functions.map(({ lambda }) => lambda.metricThrottles()),
      threshold: limits.rejectedInvocations,
    }),
    ...alarmsOnSum('table-throttles', {
      meaning: `${inMostMinutes}, DynamoDB throttled a table ${limits.throttledCalls} times or more: clients wait, and then get 503.`,
      metrics: tables.flatMap(({ table }) => throttlesOf(table)),
      period: Duration.minutes(1),
      threshold: limits.throttledCalls,
      ...mostPeriods,
    }),
    ...alarmsOnSum('index-throttles', {
      meaning: `${inMostMinutes}, DynamoDB throttled the index ${indexNames.join(' or ')} ${limits.throttledCalls} times or more: operations that read it wait, and then return 503. If writes are throttled, so do creations.`,
      metrics: indexes.flatMap(({ name, table }) =>
        throttlesOf(table, { GlobalSecondaryIndexName: name }),
      ),
      period: Duration.minutes(1),
      threshold: limits.throttledCalls,
      ...mostPeriods,
    }),
    ...alarmsOnSum('auth-failures', {
      meaning: `In 5 minutes, ${limits.refusedKeys} requests or more had no valid API key: a client is locked out, or a stranger tries keys.`,
      metrics: operations.map(({ name: operation }) =>
        serviceMetric(stage, metricNames.authFailures, { operation }),
      ),
      threshold: limits.refusedKeys,
    }),
    ...(stage.firewall && {
      'firewall-blocks': {
        meaning: `In 5 minutes, the firewall blocked ${limits.blockedRequests} requests or more: somebody attacks or floods the service, or a client is locked out.`,
        // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
        metric: new Metric({
          namespace: 'AWS/WAFV2',
          metricName: 'BlockedRequests',
          dimensionsMap: { WebACL: serviceName(stage), Region: region, Rule: 'ALL' },
          statistic: 'Sum',
        }),
        threshold: limits.blockedRequests,
      },
    }),
    ...Object.fromEntries(
      operations.flatMap(({ name: operation, deprecation }) => {
        if (!deprecation) return [];
        const year = deprecation.sunset.getUTCFullYear();
        const alarm = {
          meaning: `A client called ${operation} in the last day. It is removed in ${year}, and then its callers break.`,
          metric: new MathExpression({
            expression: `IF(YEAR(calls) >= ${year}, calls, 0)`,
            usingMetrics: {
              calls: serviceMetric(stage, metricNames.deprecatedCalls, { operation }),
            },
            period: Duration.days(1),
          }),
          threshold: 1,
          runbookEntry: 'deprecated-operation-in-use',
        };
        return [[`${operation}-in-use`, alarm]];
      }),
    ),
  };
};

/**
 * How many metrics an alarm can add up.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
 */
const maxMetrics = 10;

interface SumAlarmProps extends Omit<ServiceAlarmProps, 'metric'> {
  readonly metrics: readonly Metric[];
  /** The period of the metrics. The default is 5 minutes. */
  readonly period?: Duration;
}

/** Returns an alarm on the sum of metrics, and another one, such as `<name>-2`, for each ten more. */
const alarmsOnSum = (name: string, { metrics, period, ...props }: SumAlarmProps) => {
  const alarms: Record<string, ServiceAlarmProps> = {};
  for (let first = 0; first < metrics.length; first += maxMetrics) {
    const metric = sumOf(metrics.slice(first, first + maxMetrics), period);
    const suffix = first === 0 ? '' : `-${first / maxMetrics + 1}`;
    alarms[`${name}${suffix}`] = { ...props, metric, runbookEntry: name };
  }
  return alarms;
};

/** The throttled reads and writes of a table, or of an index. */
const throttlesOf = (table: Table, dimensions?: Readonly<Record<string, string>>) =>
  ['Read', 'Write'].map((kind) => tableMetric(table, `${kind}ThrottleEvents`, dimensions));

import { Duration, Stack } from 'aws-cdk-lib';
import {
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { operations } from '../../lib/operations/operations.ts';
import { metricNames, versionMetricNames } from '../../lib/telemetry/metric-names.ts';
import { alarmLimits, badMinutes } from '../settings/alarm-limits.ts';
import { serviceName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import type { ApiFunction } from './bundled-function.ts';
import {
  type MonitoredService,
  probeMetric,
  serviceMetric,
  tableMetric,
} from './service-metrics.ts';

/** What an alarm means and measures. It goes off when its metric is at its threshold or above. */
export interface ServiceAlarm extends Omit<AlarmProps, 'evaluationPeriods'> {
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

/** Alarms by their names. */
export type ServiceAlarms = Readonly<Record<string, ServiceAlarm>>;

const minute = Duration.minutes(1);
const mostMinutes = { evaluationPeriods: badMinutes.of, datapointsToAlarm: badMinutes.atLeast };
const inMostMinutes = `In ${badMinutes.atLeast} of ${badMinutes.of} minutes`;

/** Returns the alarms on what clients notice, and the alarms on its causes. */
export const serviceAlarms = (service: MonitoredService): ServiceAlarms => {
  const { stage, restApi, tables } = service;
  const functions = [...service.functions.values()];
  const indexes = tables.flatMap(({ table, indexNames }) =>
    indexNames.map((name) => ({ name, table })),
  );
  const indexNames = indexes.map(({ name }) => name).join(' or ');
  const { latency, 'server-errors': errors } = alarmLimits;
  return {
    'server-errors': {
      meaning: `In ${errors.minutes} minutes, ${errors.requests} requests or more got a 5xx, and these were at least ${errors.percent} % of all requests.`,
      metric: percentOfErrors(restApi.metricServerError(), restApi.metricCount(), errors),
      threshold: errors.percent,
    },
    latency: {
      meaning: `${inMostMinutes} that had ${latency.requests} requests or more, the slowest 1 % took ${latency.ms} ms or more: clients wait, and may give up.`,
      metric: slowest(restApi.metricLatency({ statistic: 'p99' }), restApi.metricCount(), latency),
      threshold: latency.ms,
      ...mostMinutes,
    },
    ...alarmsOnSum('function-crashes', {
      meaning: `In 5 minutes, functions crashed or timed out ${alarmLimits['function-crashes'].crashes} times or more: clients got 502, 503 or 504, and a pet may have been stored before the crash.`,
      // Those of the alias. The check before traffic calls a version, and no client notices that it fails.
      metrics: functions.map(({ alias }) => alias.metricErrors()),
      threshold: alarmLimits['function-crashes'].crashes,
    }),
    ...alarmsOnSum('function-throttles', {
      meaning: `In 5 minutes, Lambda rejected ${alarmLimits['function-throttles'].requests} requests or more, because a function had reached its concurrency: clients got 503.`,
      metrics: functions.map(({ alias }) => alias.metricThrottles()),
      threshold: alarmLimits['function-throttles'].requests,
    }),
    ...alarmsOnSum('table-throttles', {
      meaning: `${inMostMinutes}, DynamoDB throttled a table ${alarmLimits['table-throttles'].calls} times or more: clients wait, and then get 503.`,
      metrics: tables.flatMap(({ table }) => throttlesOf(table)),
      period: minute,
      threshold: alarmLimits['table-throttles'].calls,
      ...mostMinutes,
    }),
    ...alarmsOnSum('index-throttles', {
      meaning: `${inMostMinutes}, DynamoDB throttled the index ${indexNames} ${alarmLimits['index-throttles'].calls} times or more: operations that read it wait, and then return 503. If writes are throttled, so do operations that write to its table.`,
      metrics: indexes.flatMap(({ name, table }) =>
        throttlesOf(table, { GlobalSecondaryIndexName: name }),
      ),
      period: minute,
      threshold: alarmLimits['index-throttles'].calls,
      ...mostMinutes,
    }),
    ...alarmsOnSum('auth-failures', {
      meaning: `In 5 minutes, ${alarmLimits['auth-failures'].requests} requests or more had no valid API key: a client is locked out, or a stranger tries keys.`,
      metrics: operations.map(({ name: operation }) =>
        serviceMetric(stage, metricNames.authFailures, { operation }),
      ),
      threshold: alarmLimits['auth-failures'].requests,
    }),
    ...(stage.firewall && {
      'firewall-blocks': {
        meaning: `In 5 minutes, the firewall blocked ${alarmLimits['firewall-blocks'].requests} requests or more: somebody attacks or floods the service, or a client is locked out.`,
        // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
        metric: new Metric({
          namespace: 'AWS/WAFV2',
          metricName: 'BlockedRequests',
          dimensionsMap: {
            WebACL: serviceName(stage),
            Region: Stack.of(restApi).region,
            Rule: 'ALL',
          },
          statistic: 'Sum',
        }),
        threshold: alarmLimits['firewall-blocks'].requests,
      },
    }),
    ...callsBeforeSunset(stage),
  };
};

/** Returns an alarm for each deprecated operation that clients call in the year in which it is removed. */
const callsBeforeSunset = (stage: Stage): ServiceAlarms => {
  const alarms: Record<string, ServiceAlarm> = {};
  for (const { name: operation, deprecation } of operations) {
    if (!deprecation) continue;
    const year = deprecation.sunset.getUTCFullYear();
    const calls = serviceMetric(stage, metricNames.deprecatedCalls, { operation });
    alarms[`${operation}-in-use`] = {
      meaning: `A client called ${operation} in the last day. It is removed in ${year}, and then its callers break.`,
      metric: new MathExpression({
        expression: `IF(YEAR(calls) >= ${year}, calls, 0)`,
        usingMetrics: { calls },
        period: Duration.days(1),
      }),
      threshold: 1,
      runbookEntry: 'deprecated-operation-in-use',
    };
  }
  return alarms;
};

/**
 * Returns the alarm on the requests that the probe of a stage sends. A minute without one counts as a
 * failure.
 */
export const probeAlarms = (stage: Stage): ServiceAlarms => ({
  probe: {
    meaning: `${inMostMinutes}, a request from outside failed or could not be sent: perhaps no client can reach the service.`,
    metric: probeMetric(stage, 'Minimum'),
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: 1,
    ...mostMinutes,
    treatMissingData: TreatMissingData.BREACHING,
  },
});

/**
 * Returns the alarms that roll back a function's new version. They don't compare it with the live version,
 * because the template does not know which version is live.
 *
 * Metrics come minutes late, and a new minute without failures would hide an older one whose failures arrive
 * after it. So each alarm looks at more periods than must fail, as AWS advises:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Alarms.html
 */
export const canaryAlarms = (
  stage: Stage,
  operation: FunctionName,
  { node: { id }, lambda, alias }: ApiFunction,
): ServiceAlarms => {
  const { version } = lambda.currentVersion;
  const metric = (name: string, statistic?: string) =>
    serviceMetric(stage, name, { operation, version }, statistic);
  const requests = metric(versionMetricNames.requests);
  const { 'canary-latency': latency, 'canary-server-errors': errors } = alarmLimits;
  // CodeDeploy reads the state of these alarms. They have no actions, because after the deployment they watch
  // the live version, where a single crash must not wake anyone.
  const forCodeDeploy = { actionsEnabled: false, runbookEntry: 'canary-errors', version };
  return {
    // A crash and a time-out write no line, so only Lambda counts them.
    [`canary-errors-${id}`]: {
      meaning: `The new version of ${id} crashed or timed out: its deployment is rolled back.`,
      metric: lambda.metricErrors({
        dimensionsMap: {
          FunctionName: lambda.functionName,
          Resource: `${lambda.functionName}:${alias.aliasName}`,
          ExecutedVersion: version,
        },
        period: minute,
      }),
      threshold: 1,
      // Lambda dates an error to the start of the invocation, and reports it at the end:
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
      evaluationPeriods: 5,
      datapointsToAlarm: 1,
      ...forCodeDeploy,
    },
    [`canary-server-errors-${id}`]: {
      meaning: `The new version of ${id} returned 5xx to ${errors.requests} requests or more in ${errors.minutes} minutes, and these were at least ${errors.percent} % of its requests: its deployment is rolled back.`,
      metric: percentOfErrors(metric(versionMetricNames.serverErrors), requests, errors),
      threshold: errors.percent,
      evaluationPeriods: 2,
      datapointsToAlarm: 1,
      ...forCodeDeploy,
    },
    [`canary-latency-${id}`]: {
      meaning: `The slowest 1 % of the requests to the new version of ${id} took ${latency.ms} ms or more in ${latency.badMinutes} of ${latency.minutes} minutes: its deployment is rolled back.`,
      metric: slowest(metric(versionMetricNames.latency, 'p99'), requests, latency),
      threshold: latency.ms,
      evaluationPeriods: latency.minutes,
      datapointsToAlarm: latency.badMinutes,
      ...forCodeDeploy,
    },
  };
};

/** Returns the percentage of requests that failed in some minutes, or 0 if fewer failed than the limit. */
const percentOfErrors = (
  errors: IMetric,
  requests: IMetric,
  limit: { readonly requests: number; readonly minutes: number },
) =>
  new MathExpression({
    expression: `IF(errors >= ${limit.requests}, 100 * errors / requests, 0)`,
    usingMetrics: { errors, requests },
    period: Duration.minutes(limit.minutes),
  });

/** Returns a metric of the slowest 1 % in each minute, or 0 where it had fewer requests than the limit. */
const slowest = (p99: IMetric, requests: IMetric, limit: { readonly requests: number }) =>
  new MathExpression({
    expression: `IF(requests >= ${limit.requests}, p99, 0)`,
    usingMetrics: { p99, requests },
    period: minute,
  });

/** The throttled reads and writes of a table, or of an index. */
const throttlesOf = (table: Table, dimensions?: Readonly<Record<string, string>>) =>
  ['Read', 'Write'].map((kind) => tableMetric(table, `${kind}ThrottleEvents`, dimensions));

/**
 * How many metrics an alarm can add up.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-alarmLimits.html
 */
const maxMetrics = 10;

interface SumAlarm extends Omit<ServiceAlarm, 'metric'> {
  readonly metrics: readonly Metric[];
  /** The period of the metrics. The default is 5 minutes. */
  readonly period?: Duration;
}

/** Returns an alarm on the sum of metrics, and another one, such as `<name>-2`, for each ten more. */
const alarmsOnSum = (name: string, { metrics, period, ...alarm }: SumAlarm): ServiceAlarms => {
  const alarms: Record<string, ServiceAlarm> = {};
  for (let first = 0; first < metrics.length; first += maxMetrics) {
    const metric = sumOf(metrics.slice(first, first + maxMetrics), period);
    const suffix = first === 0 ? '' : `-${first / maxMetrics + 1}`;
    alarms[`${name}${suffix}`] = { ...alarm, metric, runbookEntry: name };
  }
  return alarms;
};

/**
 * Returns the sum of metrics. Missing values count as 0. AWS's pages disagree whether arithmetic does that by
 * itself, and an alarm that gets no value from AWS/DynamoDB keeps its state, whatever treatMissingData says.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
const sumOf = (metrics: readonly Metric[], period = Duration.minutes(5)) => {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  const values = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({ expression: values.join(' + '), usingMetrics, period });
};

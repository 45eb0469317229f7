import { Duration } from 'aws-cdk-lib';
import { type Alarm, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { versionMetricNames } from '../../lib/contract/metric-names.ts';
import type { ServiceFunction, ServiceFunctions } from '../lambda/stage-function.ts';
import type { Stage } from '../stages.ts';
import type { Monitoring } from './monitoring.ts';
import { serviceMetric } from './service-metrics.ts';

/**
 * The p99 of a good version's latency, in ms, times 2.5. The p99 on AWS are unverified: take them from `Latency` of the
 * live version over a week, and correct these limits.
 */
const latencyLimits: Readonly<Record<keyof ServiceFunctions, number>> = {
  listPets: 200,
  createPet: 125,
  getPet: 125,
  unrouted: 50,
};

/**
 * The alarms that roll back a function's new version. They watch metrics of this version, as the template does not know
 * which version was live. What they catch is simulated in test/infra/canary-simulation.ts.
 */
export const addCanaryAlarms = (
  monitoring: Monitoring,
  stage: Stage,
  operation: keyof ServiceFunctions,
  { node: { id }, lambda, alias }: ServiceFunction,
): Alarm[] => {
  const { version } = lambda.currentVersion;
  const metric = (name: string, statistic?: string) =>
    serviceMetric(stage, name, { operation, version }, statistic);
  const requests = metric(versionMetricNames.requests);
  // CodeDeploy reads their state. They mail nobody: later they watch the live version, where one crash must wake no one.
  const forCodeDeploy = { actionsEnabled: false, runbookEntry: 'canary-errors' };
  return [
    // A crash and a time-out write no line, so only Lambda counts them.
    monitoring.addAlarm(`canary-errors-${id}`, {
      meaning: `The new version of ${id} crashed or timed out: its deployment is rolled back.`,
      metric: lambda.metricErrors({
        dimensionsMap: {
          FunctionName: lambda.functionName,
          Resource: `${lambda.functionName}:${alias.aliasName}`,
          ExecutedVersion: version,
        },
        period: Duration.minutes(1),
      }),
      threshold: 1,
      ...forCodeDeploy,
    }),
    monitoring.addAlarm(`canary-server-errors-${id}`, {
      meaning: `The new version of ${id} returned 5xx to 3 requests or more, and to 0.5 % of them, in 10 minutes: its deployment is rolled back.`,
      metric: new MathExpression({
        // Fewer failures, such as the first of a few requests, say nothing of the version.
        expression: 'IF(errors >= 3, 100 * errors / requests, 0)',
        usingMetrics: { errors: metric(versionMetricNames.serverErrors), requests },
        period: Duration.minutes(10),
      }),
      threshold: 0.5,
      ...forCodeDeploy,
    }),
    monitoring.addAlarm(`canary-latency-${id}`, {
      meaning: `The slowest 1 % of the requests to the new version of ${id} took ${latencyLimits[operation]} ms or more for 4 minutes: its deployment is rolled back.`,
      metric: new MathExpression({
        expression: 'IF(requests >= 5, p99, 0)',
        usingMetrics: { p99: metric(versionMetricNames.latency, 'p99'), requests },
        period: Duration.minutes(1),
      }),
      threshold: latencyLimits[operation],
      // The first minute has the cold starts.
      evaluationPeriods: 4,
      ...forCodeDeploy,
    }),
  ];
};

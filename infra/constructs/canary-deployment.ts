import { CfnCondition, CfnParameter, Duration, Fn, Stack } from 'aws-cdk-lib';
import { type Alarm, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  TrafficRouting,
} from 'aws-cdk-lib/aws-codedeploy';
import { Construct } from 'constructs';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { versionMetricNames } from '../../lib/telemetry/metric-names.ts';
import { trafficParameter, trafficShifts } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import type { Monitoring } from './monitoring.ts';
import { acknowledge } from './security-checks.ts';
import { type MonitoredService, serviceMetric } from './service-metrics.ts';
import { serviceRole } from './service-role.ts';
import {
  allow,
  type ServiceFunction,
  type ServiceFunctions,
  StageFunction,
} from './stage-function.ts';

/**
 * Moves the aliases of functions to new versions. A new version gets no requests until a check has passed. If
 * the stage has a canary, it then gets 10 % of them for some minutes, unless a parameter of the stack says that
 * it gets all at once, and an alarm of the new version rolls the deployment back. Other alarms don't: CodeDeploy
 * stops a deployment when one is on at its start, so they would also stop the release that repairs prod
 * (https://github.com/aws/serverless-application-model/issues/716).
 */
export class CanaryDeployment extends Construct {
  /** The function that checks new versions before they get traffic. */
  readonly check: StageFunction;

  constructor(scope: Construct, service: MonitoredService, monitoring: Monitoring) {
    super(scope, 'Canary');
    const { stage, functions } = service;
    const application = new LambdaApplication(this, 'Application');
    const policy = 'service-role/AWSCodeDeployRoleForLambdaLimited';
    const role = serviceRole(this, 'Role', 'codedeploy', policy);
    const hasCanary = stage.canaryMinutes > 0;
    const deploymentConfig = hasCanary
      ? this.#canaryConfig(stage.canaryMinutes)
      : LambdaDeploymentConfig.ALL_AT_ONCE;
    const check = this.#addCheck(stage, functions);
    this.check = check;
    acknowledgeVersions(role, check, 'The CDK lets CodeDeploy call every version of its hook.');
    for (const [name, one] of functions) {
      const { node, alias } = one;
      new LambdaDeploymentGroup(this, node.id, {
        application,
        alias,
        role,
        deploymentConfig,
        preHook: check.lambda,
        // CloudFormation creates the alarms of the new version, and updates the group, before it moves the
        // alias, whose UpdatePolicy refers to the group: https://github.com/aws/aws-cdk/issues/2231
        // CodeDeploy accepts at most 10 alarms:
        // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-codedeploy-deploymentgroup-alarmconfiguration.html
        alarms: hasCanary ? addCanaryAlarms(monitoring, stage, name, one) : [],
        autoRollback: {
          failedDeployment: true,
          stoppedDeployment: true,
          deploymentInAlarm: hasCanary,
        },
      });
      // Before the alias moves, the check needs the new versions in its environment, and CodeDeploy needs the
      // permission to call the check.
      alias.node.addDependency(check, role);
    }
  }

  /** Returns a configuration by a parameter, with which a deployment can skip the canary. */
  #canaryConfig(minutes: number): ILambdaDeploymentConfig {
    const [canary] = trafficShifts;
    const traffic = new CfnParameter(Stack.of(this), trafficParameter, {
      description: 'How traffic moves to a new version',
      allowedValues: [...trafficShifts],
      default: canary,
    });
    const isCanary = new CfnCondition(Stack.of(this), 'IsCanary', {
      expression: Fn.conditionEquals(traffic.valueAsString, canary),
    });
    const interval = Duration.minutes(minutes);
    const { deploymentConfigName } = new LambdaDeploymentConfig(this, 'Config', {
      trafficRouting: TrafficRouting.timeBasedCanary({ interval, percentage: 10 }),
    });
    const allAtOnce = LambdaDeploymentConfig.ALL_AT_ONCE.deploymentConfigName;
    const chosen = Fn.conditionIf(isCanary.logicalId, deploymentConfigName, allAtOnce);
    return LambdaDeploymentConfig.fromLambdaDeploymentConfigName(this, 'Chosen', `${chosen}`);
  }

  /**
   * Adds CodeDeploy's BeforeAllowTraffic hook (functions/checks/before-traffic.ts). The hook reads
   * the new versions from its environment variables, so a release or a rollback must update the hook
   * before it moves an alias.
   */
  #addCheck(stage: Stage, functions: ServiceFunctions): StageFunction {
    const called = [...functions];
    const check = new StageFunction(this, 'before-traffic', {
      stage,
      memoryMiB: 512,
      timeoutSeconds: 60,
      readsProbeKey: true,
      environment: Object.fromEntries(
        called.map(([name, { lambda }]) => [name, lambda.currentVersion.functionArn]),
      ),
      permissions: [
        allow('lambda:InvokeFunction', ...called.map(([, one]) => `${one.lambda.functionArn}:*`)),
      ],
    });
    const reason = 'A permission for the new version would take effect too late: IAM needs time.';
    for (const [, one] of called) acknowledgeVersions(check, one, reason);
    return check;
  }
}

/** Accepts that the roles in a construct may invoke every version of a function. */
const acknowledgeVersions = (construct: Construct, { lambda }: StageFunction, reason: string) => {
  const [logicalId] = Stack.of(lambda).resolve(lambda.functionArn)['Fn::GetAtt'];
  acknowledge(construct, { [`AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`]: reason });
};

/** The limits at which a new version is rolled back. The description of each alarm says its own. */
const limits = {
  serverErrors: 3,
  serverErrorPercent: 0.5,
  serverErrorMinutes: 10,
  requestsForLatency: 5,
  // Nobody has measured the functions on AWS, and a guess must not undo a release, so the limit is far above any
  // expected latency.
  latencyMs: 1_000,
  // The first minute contains the cold starts, and the last two may be incomplete. So a slow version is rolled
  // back after 6 minutes at most, while it has 10.
  slowMinutes: 4,
  latencyMinutes: 6,
} as const;

/**
 * Adds the alarms that roll back a function's new version. They don't compare it with the live version,
 * because the template does not know which version is live.
 *
 * Metrics come minutes late, and a new minute without failures would hide an older one whose failures arrive
 * after it. So each alarm looks at more periods than must fail, as AWS advises:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Alarms.html
 */
const addCanaryAlarms = (
  monitoring: Monitoring,
  stage: Stage,
  operation: FunctionName,
  { node: { id }, lambda, alias }: ServiceFunction,
): Alarm[] => {
  const { version } = lambda.currentVersion;
  const metric = (name: string, statistic?: string) =>
    serviceMetric(stage, name, { operation, version }, statistic);
  const requests = metric(versionMetricNames.requests);
  // CodeDeploy reads the state of these alarms. They have no actions, because after the deployment they watch
  // the live version, where a single crash must not wake anyone.
  const forCodeDeploy = { actionsEnabled: false, runbookEntry: 'canary-errors', version };
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
      // Lambda dates an error to the start of the invocation, and reports it at the end:
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
      evaluationPeriods: 5,
      datapointsToAlarm: 1,
      ...forCodeDeploy,
    }),
    monitoring.addAlarm(`canary-server-errors-${id}`, {
      meaning: `The new version of ${id} returned 5xx to ${limits.serverErrors} requests or more in ${limits.serverErrorMinutes} minutes, and these were at least ${limits.serverErrorPercent} % of its requests: its deployment is rolled back.`,
      metric: new MathExpression({
        // With little traffic, a single failure is a large share, but says nothing about the version.
        expression: `IF(errors >= ${limits.serverErrors}, 100 * errors / requests, 0)`,
        usingMetrics: { errors: metric(versionMetricNames.serverErrors), requests },
        period: Duration.minutes(limits.serverErrorMinutes),
      }),
      threshold: limits.serverErrorPercent,
      evaluationPeriods: 2,
      datapointsToAlarm: 1,
      ...forCodeDeploy,
    }),
    monitoring.addAlarm(`canary-latency-${id}`, {
      meaning: `The slowest 1 % of the requests to the new version of ${id} took ${limits.latencyMs} ms or more in ${limits.slowMinutes} of ${limits.latencyMinutes} minutes: its deployment is rolled back.`,
      metric: new MathExpression({
        expression: `IF(requests >= ${limits.requestsForLatency}, p99, 0)`,
        usingMetrics: { p99: metric(versionMetricNames.latency, 'p99'), requests },
        period: Duration.minutes(1),
      }),
      threshold: limits.latencyMs,
      evaluationPeriods: limits.latencyMinutes,
      datapointsToAlarm: limits.slowMinutes,
      ...forCodeDeploy,
    }),
  ];
};

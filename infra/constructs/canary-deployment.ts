import { CfnCondition, CfnParameter, Duration, Fn, Stack } from 'aws-cdk-lib';
import {
  type ILambdaDeploymentConfig,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  TrafficRouting,
} from 'aws-cdk-lib/aws-codedeploy';
import { Construct } from 'constructs';
import { trafficParameter, trafficShifts } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { canaryAlarms } from './alarms.ts';
import { type ApiFunctions, allow, BundledFunction } from './bundled-function.ts';
import type { Monitoring } from './monitoring.ts';
import { acknowledge } from './security-rules.ts';
import type { MonitoredService } from './service-metrics.ts';
import { serviceRole } from './service-role.ts';

/**
 * Moves the aliases of functions to new versions. A new version gets no requests until a check has passed. If
 * the stage has a canary, it then gets 10 % of them for some minutes, unless a parameter of the stack says
 * that it gets all at once, and an alarm of the new version rolls the deployment back. Other alarms don't:
 * CodeDeploy stops a deployment when one is on at its start, so they would also stop the release that repairs
 * prod (https://github.com/aws/serverless-application-model/issues/716).
 */
export class CanaryDeployment extends Construct {
  /** The function that checks new versions before they get traffic. */
  readonly check: BundledFunction;

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
        alarms: hasCanary ? monitoring.addAlarms(canaryAlarms(stage, name, one)) : [],
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
   * Adds CodeDeploy's BeforeAllowTraffic hook (functions/self-check/before-traffic.ts). The hook reads
   * the new versions from its environment variables, so a release or a rollback must update the hook
   * before it moves an alias.
   */
  #addCheck(stage: Stage, functions: ApiFunctions): BundledFunction {
    const called = [...functions];
    const check = new BundledFunction(this, 'before-traffic', {
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
const acknowledgeVersions = (construct: Construct, { lambda }: BundledFunction, reason: string) => {
  const [logicalId] = Stack.of(lambda).resolve(lambda.functionArn)['Fn::GetAtt'];
  acknowledge(construct, { [`AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`]: reason });
};

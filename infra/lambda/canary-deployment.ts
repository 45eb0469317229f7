import { Duration, Stack } from 'aws-cdk-lib';
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  TrafficRouting,
} from 'aws-cdk-lib/aws-codedeploy';
import { Construct } from 'constructs';
import { operations } from '../../lib/contract/operations.ts';
import { addCanaryAlarms } from '../monitoring/canary-alarms.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { MonitoredService } from '../monitoring/service-metrics.ts';
import { acknowledge, serviceRole } from '../security-checks.ts';
import type { Stage } from '../stages.ts';
import { allow, type ServiceFunctions, StageFunction } from './stage-function.ts';

/**
 * Moves the aliases of functions to new versions. A new version gets no requests until a check has passed, then 10 % of
 * them for `canaryMinutes`, then all. Rolls back if an alarm of the new version, or `server-errors`, goes off.
 */
export class CanaryDeployment extends Construct {
  constructor(scope: Construct, service: MonitoredService, minutes: number, alarms: Monitoring) {
    super(scope, 'Canary');
    const { stage, functions } = service;
    const application = new LambdaApplication(this, 'Application');
    const policy = 'service-role/AWSCodeDeployRoleForLambdaLimited';
    const role = serviceRole(this, 'Role', 'codedeploy', policy);
    const interval = Duration.minutes(minutes);
    const deploymentConfig = new LambdaDeploymentConfig(this, 'Config', {
      trafficRouting: TrafficRouting.timeBasedCanary({ interval, percentage: 10 }),
    });
    const check = this.#addCheck(stage, functions);
    acknowledgeVersions(role, check, 'The CDK lets CodeDeploy call every version of its hook.');
    for (const name of [...operations.map((operation) => operation.name), 'unrouted'] as const) {
      const { node, alias } = functions[name];
      new LambdaDeploymentGroup(this, node.id, {
        application,
        alias,
        role,
        deploymentConfig,
        preHook: check.lambda,
        // At most 10: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-codedeploy-deploymentgroup-alarmconfiguration.html
        alarms: [...addCanaryAlarms(alarms, stage, name, functions[name]), alarms.serverErrors],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      });
      // The check must have the new versions, and CodeDeploy the permission to call it, before the alias moves.
      alias.node.addDependency(check, role);
    }
  }

  /**
   * CodeDeploy's BeforeAllowTraffic hook (`before-traffic-handler.ts`). It reads the new versions from its environment
   * variables, so a release or a rollback must update the hook before it moves an alias.
   */
  #addCheck(stage: Stage, functions: ServiceFunctions): StageFunction {
    const called = Object.entries(functions);
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
    const reason = 'IAM would take a while to know a permission for the new version only.';
    for (const [, one] of called) acknowledgeVersions(check, one, reason);
    return check;
  }
}

/** Accepts that the roles in a construct may invoke every version of a function. */
const acknowledgeVersions = (construct: Construct, { lambda }: StageFunction, reason: string) => {
  const [logicalId] = Stack.of(lambda).resolve(lambda.functionArn)['Fn::GetAtt'];
  acknowledge(construct, { [`AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`]: reason });
};

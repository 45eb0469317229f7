import { Validations } from 'aws-cdk-lib';
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { operations } from '../../lib/contract/operations.ts';
import { addCanaryAlarms } from '../monitoring/canary-alarms.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { Stage } from '../stages.ts';
import type { ServiceFunctions } from './service-function.ts';

export interface CanaryDeploymentProps {
  readonly stage: Stage;
  readonly functions: ServiceFunctions;
  readonly monitoring: Monitoring;
}

/**
 * Brings new versions of functions into service through their aliases: 10 % of the requests for 10 minutes, then all.
 * Goes back to the old version when an alarm of the new one goes off, or the API answers too many 5xx.
 */
export class CanaryDeployment extends Construct {
  constructor(scope: Construct, id: string, props: CanaryDeploymentProps) {
    super(scope, id);
    const { stage, functions, monitoring } = props;
    const application = new LambdaApplication(this, 'Application');
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited'),
      ],
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'AWS made the policy for this one use, and keeps it in step with CodeDeploy.',
    });
    for (const operation of [...operations.map(({ name }) => name), 'unrouted'] as const) {
      const { node, alias } = functions[operation];
      new LambdaDeploymentGroup(this, node.id, {
        application,
        alias,
        role,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
        // At most 10: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-codedeploy-deploymentgroup-alarmconfiguration.html
        alarms: [
          ...addCanaryAlarms(monitoring, stage, operation, functions[operation]),
          monitoring.serverErrors,
        ],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      });
    }
  }
}

import { Duration, Validations } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

export interface CanaryDeploymentProps {
  readonly functions: readonly ServiceFunction[];
  readonly monitoring: Monitoring;
}

/**
 * Brings new versions of functions into service through their aliases: 10 % of the requests for 10 minutes, then all.
 * Goes back to the old version when the new one crashes or times out, or the API answers too many 5xx.
 */
export class CanaryDeployment extends Construct {
  constructor(scope: Construct, id: string, { functions, monitoring }: CanaryDeploymentProps) {
    super(scope, id);
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
    for (const { node, lambda, alias } of functions) {
      const newVersionErrors = monitoring.addAlarm(`canary-errors-${node.id}`, {
        meaning: `The new version of ${node.id} crashed or timed out: its deployment is taken back.`,
        metric: new Metric({
          namespace: 'AWS/Lambda',
          metricName: 'Errors',
          dimensionsMap: {
            FunctionName: lambda.functionName,
            Resource: `${lambda.functionName}:${alias.aliasName}`,
            ExecutedVersion: lambda.currentVersion.version,
          },
          statistic: 'Sum',
          period: Duration.minutes(1),
        }),
        threshold: 1,
        evaluationPeriods: 1,
        runbookEntry: 'canary-errors',
      });
      new LambdaDeploymentGroup(this, node.id, {
        application,
        alias,
        role,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
        alarms: [newVersionErrors, monitoring.serverErrors],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      });
    }
  }
}

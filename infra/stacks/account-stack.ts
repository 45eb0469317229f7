import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledge } from '../security-checks.ts';
import { accountStackName } from '../stages.ts';

/**
 * What an account needs once in a region, for any number of stages: the role by which API Gateway writes its logs.
 * It is a setting of the account, so a stage that owned it would take it from the others when it is deleted.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
 */
export class AccountStack extends Stack {
  constructor(scope: Construct, id: string, props: Pick<StackProps, 'env'> = {}) {
    super(scope, id, {
      ...props,
      stackName: accountStackName,
      description: 'Animal store service, settings of the account',
    });
    const role = new Role(this, 'ApiGatewayLogging', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
      ],
    });
    role.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    acknowledge(role, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'API Gateway checks that the role holds the very policy that AWS made for it.',
    });
    new CfnAccount(this, 'ApiGateway', { cloudWatchRoleArn: role.roleArn }).applyRemovalPolicy(
      RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    );
  }
}

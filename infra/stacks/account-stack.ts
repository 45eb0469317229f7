import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { serviceRole } from '../constructs/service-role.ts';
import { accountStackName } from '../settings/names.ts';

/**
 * The stack with the role by which API Gateway writes its logs. An account has this setting once in
 * each region, for all stages.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
 */
export class AccountStack extends Stack {
  constructor(scope: Construct, id: string, props?: Pick<StackProps, 'env'>) {
    const description = 'Animal store service, settings of the account';
    super(scope, id, { ...props, stackName: accountStackName, description });
    const policy = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs';
    const role = serviceRole(this, 'ApiGatewayLogging', 'apigateway', policy);
    role.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const account = new CfnAccount(this, 'ApiGateway', { cloudWatchRoleArn: role.roleArn });
    account.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  }
}

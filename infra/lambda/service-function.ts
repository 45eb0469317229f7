import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type Alias,
  Architecture,
  Code,
  type IFunction,
  Function as LambdaFunction,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Stage, serviceName } from '../stages.ts';
import { bundleDirectory } from './bundle-functions.ts';

export interface ServiceFunctionProps {
  readonly stage: Stage;
  readonly environment: Readonly<Record<string, string>>;
  /** All that the function may do, besides writing its own log and its traces. */
  readonly permissions: readonly PolicyStatement[];
}

/**
 * A Lambda function of one file in `functions/`, named like it, with a log and a role of its own.
 * What calls it calls the alias `live`, which a deployment moves to the new version.
 */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly alias: Alias & IFunction;

  constructor(scope: Construct, name: string, props: ServiceFunctionProps) {
    super(scope, name);
    const { stage, environment, permissions } = props;

    const logGroup = new LogGroup(this, 'Log', {
      retention: stage.logRetentionDays,
      removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      ...(permissions.length > 0 && {
        inlinePolicies: {
          calls: new PolicyDocument({ statements: [...permissions] }),
        },
      }),
    });
    logGroup.grantWrite(role);

    this.lambda = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(bundleDirectory(name)),
      handler: `${name}.handler`,
      memorySize: stage.memoryMiB,
      timeout: Duration.seconds(stage.timeoutSeconds),
      ...(stage.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: stage.reservedConcurrency,
      }),
      environment: {
        ...environment,
        SERVICE_NAME: serviceName(stage),
        LOG_LEVEL: stage.logLevel,
        ...(stage.corsOrigins.length > 0 && { CORS_ORIGINS: stage.corsOrigins.join(' ') }),
      },
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      // Older versions stay, for an alias can go back to one at once.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
    });
    // What Lambda adds by itself; the permissions above must do without wildcards.
    Validations.of(role.node.findChild('DefaultPolicy')).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray knows no resources: its two actions can be allowed for all of them alone.',
    });
    Validations.of(this.lambda).acknowledge({
      id: 'Serverless::Serverless-LambdaDLQ',
      reason:
        'API Gateway waits for the answer; a dead letter queue takes events that no one waits for.',
    });

    const alias = this.lambda.addAlias('live');
    if (!isFunction(alias)) throw new Error(`The alias of ${name} has no role`);
    this.alias = alias;
  }
}

/** The CDK's own types don't let an alias pass for a function, as an alias may have no role. */
const isFunction = (alias: Alias): alias is Alias & IFunction => alias.role !== undefined;

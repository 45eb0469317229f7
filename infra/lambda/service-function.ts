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
import type { OperationName } from '../../lib/contract/operations.ts';
import { type Stage, serviceName } from '../stages.ts';
import { bundleDirectory } from './bundle-functions.ts';

/** The function of each operation, and the one that answers every other path and method. */
export type ServiceFunctions = Readonly<Record<OperationName | 'unrouted', ServiceFunction>>;

export interface ServiceFunctionProps {
  readonly stage: Stage;
  readonly reservedConcurrency: number | undefined;
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
    const { stage, permissions } = props;
    const logGroup = new LogGroup(this, 'Log', {
      retention: stage.logRetentionDays,
      removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const role = this.#addRole(permissions);
    logGroup.grantWrite(role);
    this.lambda = this.#addFunction(name, props, role, logGroup);
    acknowledgeTracing(role);

    const alias = this.lambda.addAlias('live');
    if (!isFunction(alias)) throw new Error(`The alias of ${name} has no role`);
    this.alias = alias;
  }

  #addRole(permissions: readonly PolicyStatement[]): Role {
    return new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      ...(permissions.length > 0 && {
        inlinePolicies: { calls: new PolicyDocument({ statements: [...permissions] }) },
      }),
    });
  }

  #addFunction(
    name: string,
    { stage, reservedConcurrency, environment }: ServiceFunctionProps,
    role: Role,
    logGroup: LogGroup,
  ): LambdaFunction {
    const lambda = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(bundleDirectory(name)),
      handler: `${name}.handler`,
      memorySize: stage.memoryMiB,
      timeout: Duration.seconds(stage.timeoutSeconds),
      ...(reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: reservedConcurrency,
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
      // An alias can go back to an older version at once. One that a rolled-back update created is deleted:
      // the next update would create it again, and Lambda refuses a second version of the same code.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    Validations.of(lambda).acknowledge({
      id: 'Serverless::Serverless-LambdaDLQ',
      reason:
        'API Gateway waits for the answer; a dead letter queue takes events that no one waits for.',
    });
    return lambda;
  }
}

/** Tracing adds its permissions by itself, with a wildcard; all others must do without. */
const acknowledgeTracing = (role: Role) => {
  Validations.of(role.node.findChild('DefaultPolicy')).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: 'X-Ray has no resources: its two actions can only be allowed for all of them.',
  });
};

/** The CDK's own types don't let an alias pass for a function, as an alias may have no role. */
const isFunction = (alias: Alias): alias is Alias & IFunction => alias.role !== undefined;

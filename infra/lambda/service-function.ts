import type { Alias, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { OperationName } from '../../lib/contract/operations.ts';
import { StageFunction, type StageFunctionProps } from './stage-function.ts';

/** The function of each operation, and the one that answers every other path and method. */
export type ServiceFunctions = Readonly<Record<OperationName | 'unrouted', ServiceFunction>>;

export type ServiceFunctionProps = Pick<
  StageFunctionProps,
  'stage' | 'reservedConcurrency' | 'environment' | 'permissions'
>;

/**
 * A function of one file in `functions/`, behind API Gateway. What calls it calls the alias `live`, which a deployment
 * moves to the new version.
 */
export class ServiceFunction extends StageFunction {
  readonly alias: Alias & IFunction;

  constructor(scope: Construct, name: string, props: ServiceFunctionProps) {
    const { memoryMiB, timeoutSeconds, logLevel, corsOrigins } = props.stage;
    super(scope, name, {
      ...props,
      memoryMiB,
      timeoutSeconds,
      environment: {
        ...props.environment,
        LOG_LEVEL: logLevel,
        ...(corsOrigins.length > 0 && { CORS_ORIGINS: corsOrigins.join(' ') }),
      },
    });
    const alias = this.lambda.addAlias('live');
    if (!isFunction(alias)) throw new Error(`The alias of ${name} has no role`);
    this.alias = alias;
  }
}

/** The CDK's own types don't let an alias pass for a function, as an alias may have no role. */
const isFunction = (alias: Alias): alias is Alias & IFunction => alias.role !== undefined;

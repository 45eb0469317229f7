import { existsSync } from 'node:fs';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type Alias,
  Architecture,
  Function as CdkFunction,
  Code,
  type IFunction,
  Runtime,
  RuntimeFamily,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { bundleDirectory } from '../build/bundle-functions.ts';
import { execWrapper, probeKeyParameter, serviceName } from '../settings/names.ts';
import { nodeMajorVersion } from '../settings/node-version.ts';
import type { Stage } from '../settings/stages.ts';
import { acknowledge } from './security-rules.ts';

const runtime = new Runtime(`nodejs${nodeMajorVersion}.x`, RuntimeFamily.NODEJS, {
  supportsInlineCode: true,
});

interface BundledFunctionProps {
  readonly stage: Stage;
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  readonly reservedConcurrentExecutions?: number | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** All permissions of the function, except those to write its own log. */
  readonly permissions: readonly PolicyStatement[];
  /** Whether the function may read the API key with which the stage checks itself. */
  readonly readsProbeKey?: true;
}

/** A Lambda function of a stage. It is named like its bundle, and has its own log and its own role. */
export class BundledFunction extends Construct {
  readonly lambda: CdkFunction;

  constructor(scope: Construct, name: string, props: BundledFunctionProps) {
    super(scope, name);
    const { stage, reservedConcurrentExecutions, readsProbeKey } = props;
    const logGroup = new LogGroup(this, 'Log', {
      retention: stage.logRetentionDays,
      removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const statements = [...props.permissions];
    // The function needs no permission for KMS, because the default key decrypts a parameter for
    // everyone who may read it.
    // https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-access.html
    if (readsProbeKey) statements.push(allow('ssm:GetParameter', probeKeyArn(this, stage)));
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      ...(statements.length > 0 && {
        inlinePolicies: { calls: new PolicyDocument({ statements }) },
      }),
    });
    logGroup.grantWrite(role);
    this.lambda = new CdkFunction(this, 'Function', {
      runtime,
      architecture: Architecture.ARM_64,
      code:
        this.node.tryGetContext('bundles') === 'none'
          ? Code.fromInline('// The local service has the bundle.')
          : codeOf(name),
      handler: `${name}.handler`,
      memorySize: props.memoryMiB,
      timeout: Duration.seconds(props.timeoutSeconds),
      ...(reservedConcurrentExecutions !== undefined && { reservedConcurrentExecutions }),
      environment: {
        ...props.environment,
        SERVICE_NAME: serviceName(stage),
        ...(readsProbeKey && { PROBE_KEY_PARAMETER: probeKeyParameter(stage) }),
      },
      role,
      logGroup,
      // Older versions are kept, so that an alias can go back at once. The version of a rolled-back
      // update is deleted. Otherwise Lambda would refuse the next update, because it publishes no second
      // version of the same code.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    });
    acknowledge(this, {
      'Serverless-LambdaDLQ': 'A caller or an alarm notices a failure: no one would read a queue.',
      'Serverless-LambdaTracing': 'No step of the runbook reads traces, and X-Ray would keep URLs.',
    });
  }
}

/** Returns the folder of a function as its code. Throws an error that names the missing source. */
const codeOf = (name: string): Code => {
  const directory = bundleDirectory(name);
  if (!existsSync(directory)) throw new Error(`There is no bundle of functions/**/${name}.ts`);
  return Code.fromAsset(directory);
};

/** Every function of the API, by name. */
export type ApiFunctions = ReadonlyMap<FunctionName, ApiFunction>;

/**
 * A function of a file in `functions/`. It is called through the alias `live`, which a deployment
 * moves to the new version.
 */
export class ApiFunction extends BundledFunction {
  readonly alias: Alias & IFunction;

  constructor(
    scope: Construct,
    name: string,
    props: Omit<BundledFunctionProps, 'memoryMiB' | 'timeoutSeconds'>,
  ) {
    const { memoryMiB, timeoutSeconds, corsOrigins } = props.stage;
    const environment = {
      ...props.environment,
      // Not for the checks, which must run even if the script can't, and refuse the version then.
      AWS_LAMBDA_EXEC_WRAPPER: `/var/task/${execWrapper}`,
      ...(corsOrigins.length > 0 && { CORS_ORIGINS: corsOrigins.join(' ') }),
    };
    super(scope, name, { ...props, memoryMiB, timeoutSeconds, environment });
    const alias = this.lambda.addAlias('live');
    if (!isFunction(alias)) throw new Error(`The alias of ${name} has no role`);
    this.alias = alias;
  }
}

/** The CDK's types don't accept an alias as a function, because an alias may have no role. */
const isFunction = (alias: Alias): alias is Alias & IFunction => alias.role !== undefined;

/** Returns the ARN of the SSM parameter that holds the API key with which a stage checks itself. */
export const probeKeyArn = (scope: Construct, stage: Stage): string =>
  Stack.of(scope).formatArn({ service: 'ssm', resource: `parameter${probeKeyParameter(stage)}` });

/** Returns a policy statement that allows an action on resources. */
export const allow = (action: string, ...resources: string[]): PolicyStatement =>
  new PolicyStatement({ actions: [action], resources });

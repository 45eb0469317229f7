import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { Stage } from '../stages.ts';
import type { ServiceFunctions } from './service-function.ts';
import { acknowledgeVersions, StageFunction } from './stage-function.ts';

/**
 * CodeDeploy's BeforeAllowTraffic hook (`before-traffic-handler.ts`). It finds the new versions in its environment, so an
 * alias must wait for it: a release, and likewise a rollback, first sets the versions and then moves the aliases.
 */
export class BeforeTrafficCheck extends StageFunction {
  constructor(scope: Construct, stage: Stage, functions: ServiceFunctions) {
    const called = Object.values(functions);
    const versions = Object.entries(functions).map(([name, { lambda }]) => [
      name,
      lambda.currentVersion.functionArn,
    ]);
    super(scope, 'before-traffic', {
      stage,
      memoryMiB: 512,
      timeoutSeconds: 60,
      readsProbeKey: true,
      environment: Object.fromEntries(versions),
      permissions: [
        new PolicyStatement({
          actions: ['lambda:InvokeFunction'],
          resources: called.map(({ lambda }) => `${lambda.functionArn}:*`),
        }),
      ],
    });
    const reason = 'IAM would take a while to know a permission for the new version only.';
    for (const one of called) acknowledgeVersions(this, one, reason);
  }
}

import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import type { Stage } from '../settings/stages.ts';
import { probeAlarms } from './alarms.ts';
import { BundledFunction } from './bundled-function.ts';
import type { Monitoring } from './monitoring.ts';
import { acknowledge } from './security-rules.ts';

/**
 * Requests a pet from the public address of the service once a minute, as a client does. An alarm goes off
 * when these requests fail.
 */
export class Probe extends BundledFunction {
  constructor(scope: Construct, stage: Stage, baseAddress: string, monitoring: Monitoring) {
    super(scope, 'probe', {
      stage,
      memoryMiB: 256,
      // About as long as the typed client waits for a response.
      timeoutSeconds: 10,
      readsProbeKey: true,
      environment: { BASE_ADDRESS: baseAddress },
      permissions: [],
    });
    const rule = new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new FunctionTarget(this.lambda)],
    });
    acknowledge(rule, {
      'Serverless-EventBusDLQ':
        'The next minute asks again; a missing response sets off the alarm.',
    });
    monitoring.addAlarms(probeAlarms(stage));
  }
}

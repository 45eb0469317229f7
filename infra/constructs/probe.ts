import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import type { Stage } from '../settings/stages.ts';
import { inMostMinutes, type Monitoring, mostPeriods } from './monitoring.ts';
import { acknowledge } from './security-checks.ts';
import { probeMetric } from './service-metrics.ts';
import { StageFunction } from './stage-function.ts';

/**
 * Requests a pet from the public address of the service once a minute, as a client does. An alarm goes off
 * when these requests fail.
 */
export class Probe extends StageFunction {
  constructor(scope: Construct, stage: Stage, baseAddress: string, monitoring: Monitoring) {
    super(scope, 'probe', {
      stage,
      memoryMiB: 256,
      timeoutSeconds: 30,
      readsProbeKey: true,
      environment: { BASE_ADDRESS: baseAddress },
      permissions: [],
    });
    const rule = new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.lambda)],
    });
    acknowledge(rule, {
      'Serverless-EventBusDLQ':
        'The next minute asks again; a missing response sets off the alarm.',
    });
    monitoring.addAlarm('probe', {
      meaning: `${inMostMinutes}, a request from outside failed or could not be sent: perhaps no client can reach the service.`,
      metric: probeMetric(stage, 'Minimum'),
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      threshold: 1,
      ...mostPeriods,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }
}

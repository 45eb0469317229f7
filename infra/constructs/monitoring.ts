import { Stack } from 'aws-cdk-lib';
import { Alarm, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { serviceName } from '../settings/names.ts';
import { runbookLink } from '../settings/owner.ts';
import type { Stage } from '../settings/stages.ts';
import { type ServiceAlarm, type ServiceAlarms, serviceAlarms } from './alarms.ts';
import { acknowledge } from './security-rules.ts';
import type { MonitoredService } from './service-metrics.ts';

/** The alarms of a stage, each with its recipients and its entry in the runbook. */
export class Monitoring extends Construct {
  /** All alarms that were added so far. */
  readonly alarms: Alarm[] = [];
  readonly #stage: Stage;
  readonly #recipients: SnsAction[];

  constructor(scope: Construct, id: string, service: MonitoredService) {
    super(scope, id);
    this.#stage = service.stage;
    this.#recipients = this.#addTopics().map((topic) => new SnsAction(topic));
    this.addAlarms(serviceAlarms(service));
  }

  /** Adds alarms named `animal-store-<stage>-<name>[-<version>]`, which notify the stage's recipients. */
  addAlarms(alarms: ServiceAlarms): Alarm[] {
    return Object.entries(alarms).map(([name, alarm]) => this.#addAlarm(name, alarm));
  }

  #addAlarm(name: string, props: ServiceAlarm): Alarm {
    const { meaning, runbookEntry = name, version, ...condition } = props;
    const alarmName = `${serviceName(this.#stage)}-${name}`;
    const alarm = new Alarm(this, name, {
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...condition,
      alarmName: version === undefined ? alarmName : `${alarmName}-${version}`,
      alarmDescription: `${meaning} Before you start: ${runbookLink}#before-you-start Runbook: ${runbookLink}#${runbookEntry}`,
    });
    alarm.addAlarmAction(...this.#recipients);
    alarm.addOkAction(...this.#recipients);
    this.alarms.push(alarm);
    return alarm;
  }

  /** Returns the stage's own topic with its subscribers, and the topics among its recipients. */
  #addTopics(): ITopic[] {
    // The topic is not encrypted with a KMS key. A mistake in the key's policy would silence every alarm, and
    // e-mail is plain text anyway.
    const displayName = serviceName(this.#stage);
    const topic = new Topic(this, 'Topic', { displayName, enforceSSL: true });
    // The policy of `enforceSSL` replaces the default policy, which allows CloudWatch to publish.
    const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions }));
    acknowledge(topic, {
      'Serverless-SNSRedrivePolicy': 'A queue of failed mails would have no reader.',
    });
    const topics: ITopic[] = [topic];
    for (const address of this.#stage.alarmRecipients) {
      if (address.startsWith('arn:')) topics.push(Topic.fromTopicArn(this, address, address));
      else if (address.startsWith('https:')) topic.addSubscription(new UrlSubscription(address));
      else topic.addSubscription(new EmailSubscription(address));
    }
    return topics;
  }
}

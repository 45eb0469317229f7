import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { stages, staging } from '../../infra/stages.ts';
import {
  metricNames,
  metricsNamespace,
  probeMetricNames,
  versionMetricNames,
} from '../../lib/contract/metric-names.ts';
import { operations } from '../../lib/contract/operations.ts';
import { alarmsOf } from '../support/alarms.ts';
import { deployedTemplate, templateOf } from '../support/stack.ts';

const templates = Object.values(stages).map((stage) => ({
  stage,
  template: deployedTemplate(stage),
}));
const functions = [...operations.map(({ name }) => name), 'unrouted'];

const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(`AWS::CloudWatch::${type}`)).map(
    ({ Properties }) => Properties,
  );

/** The dashboard's widgets, with the ids of resources where CloudFormation puts their names. */
const widgetsOf = (template: Template) => {
  const [dashboard] = propertiesOf(template, 'Dashboard');
  const parts: unknown[] = dashboard?.['DashboardBody']['Fn::Join'][1];
  const body = parts.map((part) =>
    typeof part === 'string' ? part : Object.values(part ?? {}).flat()[0],
  );
  return JSON.parse(body.join('')).widgets.map(
    ({ properties }: { properties: object }) => properties,
  );
};

describe.each(templates)('alarms of $stage.name', ({ stage, template }) => {
  const alarms = propertiesOf(template, 'Alarm');

  it('mail every addressee of the stage, when they go off and when they end', () => {
    const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toEqual([{ Ref: topic }]);
      expect(OKActions).toEqual([{ Ref: topic }]);
    }
    const subscriptions = Object.values(template.findResources('AWS::SNS::Subscription'));
    expect(
      subscriptions.map(({ Properties }) => [Properties.Protocol, Properties.Endpoint]),
    ).toEqual(stage.alarmAddressees.map((address) => ['email', address]));
  });

  it('say what happened, whom it hurts and where to read on', () => {
    for (const { AlarmDescription } of alarms) {
      expect(AlarmDescription).toMatch(/^[A-Za-z].*: .*\. Runbook: \S*infra\/runbook\.md#[a-z-]+$/);
    }
  });

  it('are published only by CloudWatch for this account, over TLS', () => {
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: [
          Match.objectLike({
            Effect: 'Deny',
            Action: 'sns:Publish',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
          Match.objectLike({
            Effect: 'Allow',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Action: 'sns:Publish',
            Condition: { StringEquals: { 'aws:SourceAccount': stage.environment?.account } },
          }),
        ],
      },
    });
  });
});

describe.each(templates)('dashboard of $stage.name', ({ stage, template }) => {
  const widgets = widgetsOf(template);

  it('tells what is wrong, is it up, who is hurt, what changed and what may be the cause, in this order', () => {
    const name = `animal-store-${stage.name}`;
    template.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: name });
    const parts = widgets.flatMap(({ title }: { title?: string }) => title?.split(':', 1) ?? []);
    const causes = ['Functions', 'Pets table', 'Index byStatus', 'Keys table', 'DynamoDB'];
    expect([...new Set(parts)]).toEqual(['Alarms', 'Up', 'Hurt', 'Changed', ...causes]);
  });

  it('shows units beside the maximum that the stage allows', () => {
    for (const { title, annotations } of widgets) {
      if (!title?.endsWith(': units a second')) continue;
      expect(annotations.horizontal.map(({ value }: { value: number }) => value)).toEqual([
        stage.maximumUnits.read,
        stage.maximumUnits.write,
      ]);
    }
  });

  it('finds each metric by version, of this stage only', () => {
    const searches = widgets
      .filter(({ title }: { title?: string }) => title?.startsWith('Changed'))
      .map(({ metrics }: { metrics: [[{ expression: string }]] }) => metrics[0][0].expression);
    const found = (name: string, statistic: string) =>
      `SEARCH('{AnimalStore,service,operation,version} MetricName="${name}" service="animal-store-${stage.name}"', '${statistic}', 60)`;
    expect(searches).toEqual([
      found('Requests', 'Sum'),
      found('ServerErrors', 'Sum'),
      found('Latency', 'p99'),
    ]);
  });

  it('shows the state of every alarm', () => {
    const ids = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
    expect(widgets.flatMap(({ alarms = [] }) => alarms)).toEqual(ids);
  });
});

describe.each(templates)('metrics of the service itself in $stage.name', ({ stage, template }) => {
  const service = `service animal-store-${stage.name}`;
  const written = [
    ...functions.flatMap((name) => [
      ...Object.values(metricNames).map((metric) => `${metric} operation ${name} ${service}`),
      ...Object.values(versionMetricNames).map(
        (metric) => `${metric} operation ${name} ${service} version Version`,
      ),
    ]),
    ...Object.values(probeMetricNames).map((metric) => `${metric} ${service}`),
  ];
  const ofAlarms = [...alarmsOf(template).values()]
    .flatMap(({ metrics }) => metrics)
    .map(({ Namespace, MetricName, Dimensions }) => [
      Namespace,
      MetricName,
      ...Dimensions.flatMap(({ Name, Value }) => [
        Name,
        // A version is { 'Fn::GetAtt': [id, 'Version'] }.
        typeof Value === 'string' ? Value : /"(\w+)"\]/.exec(JSON.stringify(Value))?.[1],
      ]),
    ]);
  const ofDashboard = widgetsOf(template).flatMap(({ metrics = [] }) => metrics);
  const metrics: unknown[][] = [...ofAlarms, ...ofDashboard];
  const used = metrics
    .filter(([namespace]) => namespace === metricsNamespace)
    .map(([, ...parts]) => parts.filter((part) => typeof part === 'string').join(' '));

  it('are asked for by the names and dimensions that the functions and the probe give them', () => {
    const [lambda] = Object.values(template.findResources('AWS::Lambda::Function'));
    expect(`service ${lambda?.['Properties'].Environment.Variables.SERVICE_NAME}`).toBe(service);
    expect(written).toEqual(expect.arrayContaining(used));
  });

  it('are all shown', () => {
    const names = new Set(used.map((metric) => metric.split(' ', 1)[0]));
    const all = [...Object.values(metricNames), ...Object.values(probeMetricNames)];
    expect([...names]).toEqual(expect.arrayContaining(all));
  });
});

describe('an addressee', () => {
  const topic = 'arn:aws:sns:eu-west-1:777777777777:pager';
  const endpoint = 'https://events.pager.test/animal-store';
  const template = templateOf({ ...staging, alarmAddressees: [topic, endpoint] });

  it('can be an HTTPS endpoint, or a topic that alarms then publish to', () => {
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'https',
      Endpoint: endpoint,
    });
    template.resourceCountIs('AWS::SNS::Subscription', 1);
    for (const { AlarmActions, OKActions } of propertiesOf(template, 'Alarm')) {
      expect(AlarmActions).toContain(topic);
      expect(OKActions).toContain(topic);
    }
  });
});

import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { prod, stages, staging } from '../../infra/stages.ts';
import { metricNames, metricsNamespace } from '../../lib/contract/metric-names.ts';
import { operations } from '../../lib/contract/operations.ts';
import { deployedTemplate, templateOf } from '../support/stack.ts';

const templates = Object.values(stages).map((stage) => ({
  stage,
  template: deployedTemplate(stage),
}));

const alarmsOf = (template: Template) =>
  Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => Properties,
  );

/** The dashboard's widgets, with the ids of resources where CloudFormation puts their names. */
const widgetsOf = (template: Template) => {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const parts: unknown[] = dashboard?.['Properties'].DashboardBody['Fn::Join'][1];
  const body = parts.map((part) =>
    typeof part === 'string' ? part : Object.values(part ?? {}).flat()[0],
  );
  return JSON.parse(body.join('')).widgets.map(
    ({ properties }: { properties: object }) => properties,
  );
};

const titlesOf = (template: Template): string[] =>
  widgetsOf(template).flatMap(({ title }: { title?: string }) => title ?? []);

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
}

/** Name and dimensions of each of the service's own metrics, in alarms and on the dashboard. */
const ownMetricsOf = (template: Template) => {
  const ofAlarms = alarmsOf(template)
    .flatMap(({ Metrics = [] }): { MetricStat?: { Metric: Metric } }[] => Metrics)
    .flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
    .map(({ Namespace, MetricName, Dimensions = [] }) => [
      Namespace,
      MetricName,
      ...Dimensions.flatMap(({ Name, Value }) => [Name, Value]),
    ]);
  const ofDashboard = widgetsOf(template).flatMap(({ metrics = [] }) => metrics);
  return [...ofAlarms, ...ofDashboard]
    .filter(([namespace]) => namespace === metricsNamespace)
    .map(([, name, ...dimensions]) => ({
      name,
      dimensions: dimensions.filter((part: unknown) => typeof part === 'string'),
    }));
};

const sumOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `FILL(m${index}, 0)`).join(' + ');

describe.each(templates)('alarms of $stage.name', ({ stage, template }) => {
  const alarms = alarmsOf(template);
  const alarmNamed = (name: string) =>
    alarms.find(({ AlarmName }) => AlarmName === `animal-store-${stage.name}-${name}`);

  it.each([
    ['server-errors', 'IF(errors >= 5, 100 * errors / requests, 0)', 300, 1, '1 of 1'],
    ['latency', 'IF(requests >= 20, p99, 0)', 60, 1_000, '3 of 5'],
    ['function-crashes', sumOf(4), 300, 3, '1 of 1'],
    ['function-throttles', sumOf(4), 300, 5, '1 of 1'],
    ['table-throttles', sumOf(4), 60, 5, '3 of 5'],
    ['index-throttles', sumOf(2), 60, 5, '3 of 5'],
    ['auth-failures', sumOf(3), 300, 100, '1 of 1'],
    ['getPet-in-use', 'IF(YEAR(requests) >= 2030, requests, 0)', 86_400, 1, '1 of 1'],
  ])('%s goes off when %s over %i s is %i or more in %s periods', (name, ...expected) => {
    const { Metrics, ExtendedStatistic, Period, Threshold, ComparisonOperator, ...periods } =
      alarmNamed(name) ?? {};
    const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = periods;
    expect(ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
    expect([
      Metrics?.[0].Expression ?? ExtendedStatistic,
      Metrics?.[1].MetricStat.Period ?? Period,
      Threshold,
      `${DatapointsToAlarm} of ${EvaluationPeriods}`,
    ]).toEqual(expected);
  });

  it.each([
    ['server-errors', '5XXError, Count', 'ApiName'],
    ['latency', 'Latency, Count', 'ApiName'],
    ['function-crashes', 'Errors, Errors, Errors, Errors', 'FunctionName'],
    ['function-throttles', 'Throttles, Throttles, Throttles, Throttles', 'FunctionName'],
    [
      'table-throttles',
      'ReadThrottleEvents, WriteThrottleEvents, ReadThrottleEvents, WriteThrottleEvents',
      'TableName',
    ],
    [
      'index-throttles',
      'ReadThrottleEvents, WriteThrottleEvents',
      'GlobalSecondaryIndexName, TableName',
    ],
    ['auth-failures', 'AuthFailures, AuthFailures, AuthFailures', 'operation, service'],
    ['getPet-in-use', 'Requests', 'operation, service'],
  ])('%s watches %s by %s', (name, names, dimensions) => {
    const [, ...sources]: { MetricStat: { Metric: Metric } }[] = alarmNamed(name)?.Metrics ?? [];
    const metrics = sources.map(({ MetricStat: { Metric } }) => Metric);
    expect(metrics.map(({ MetricName }) => MetricName).join(', ')).toBe(names);
    for (const { Dimensions } of metrics) {
      expect(Dimensions.map(({ Name }) => Name).join(', ')).toBe(dimensions);
    }
  });

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

  it('say what happened, whom it hurts and where to read on, and are silent without data', () => {
    for (const { AlarmDescription, TreatMissingData } of alarms) {
      expect(AlarmDescription).toMatch(/^[A-Za-z].*: .*\. Runbook: \S*infra\/runbook\.md#[a-z-]+$/);
      expect(TreatMissingData).toBe('notBreaching');
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
  it('has the name of the stage', () => {
    template.hasResourceProperties('AWS::CloudWatch::Dashboard', {
      DashboardName: `animal-store-${stage.name}`,
    });
  });

  it('shows every metric under its title', () => {
    expect(titlesOf(template)).toEqual(
      expect.arrayContaining([
        'Alarms',
        'Traffic: requests',
        'Traffic: requests by operation',
        'Traffic: creations that came again',
        'Errors: answers by class',
        'Errors: 4xx by operation',
        'Errors: 5xx by operation',
        'Latency: API, ms',
        'Latency: integration, ms',
        'Latency: calls of DynamoDB by operation, p99, ms',
        'API keys: requests refused by operation',
        'DynamoDB: throttled attempts by operation',
        'Functions: crashes and time-outs',
        'Functions: throttles',
        'Functions: concurrent executions',
        'Index byStatus: units a second',
        'Index byStatus: throttles',
        ...['Pets table', 'Keys table'].flatMap((table) => [
          `${table}: units a second`,
          `${table}: throttles`,
          `${table}: latency, p99, ms`,
          `${table}: errors of DynamoDB`,
        ]),
      ]),
    );
  });

  it('shows units beside the maximum that the stage allows', () => {
    for (const { title, annotations } of widgetsOf(template)) {
      if (!title?.endsWith(': units a second')) continue;
      expect(annotations.horizontal.map(({ value }: { value: number }) => value)).toEqual([
        stage.maximumUnits.read,
        stage.maximumUnits.write,
      ]);
    }
  });

  it('shows the versions of a canary where a stage is deployed so', () => {
    const canary = titlesOf(template).filter((title) => title.startsWith('Canary'));
    expect(canary).toHaveLength(stage.deployment === 'canary' ? 2 : 0);
  });

  it('shows the state of every alarm', () => {
    const ids = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
    expect(widgetsOf(template).flatMap(({ alarms = [] }) => alarms)).toEqual(ids);
  });
});

describe.each(templates)('metrics of the service itself in $stage.name', ({ stage, template }) => {
  const used = ownMetricsOf(template);

  it('are those that the functions write, and all of them', () => {
    expect(new Set(used.map(({ name }) => name))).toEqual(new Set(Object.values(metricNames)));
  });

  it('are asked for by the dimensions that the functions give them', () => {
    const [lambda] = Object.values(template.findResources('AWS::Lambda::Function'));
    const service = lambda?.['Properties'].Environment.Variables.SERVICE_NAME;
    const names = [...operations.map(({ name }) => name), 'unrouted'];
    expect(service).toBe(`animal-store-${stage.name}`);
    for (const { dimensions } of used) {
      const [operation] = dimensions.slice(1);
      expect(names).toContain(operation);
      expect(dimensions).toEqual(['operation', operation, 'service', service]);
    }
  });
});

it('an alarm of a canary mails the addressees and links its entry of the runbook', () => {
  deployedTemplate(prod).hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmName: 'animal-store-prod-canary-errors-get-pet',
    AlarmDescription: Match.stringLikeRegexp('#canary-errors$'),
    AlarmActions: [Match.anyValue()],
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
    for (const { AlarmActions, OKActions } of alarmsOf(template)) {
      expect(AlarmActions).toContain(topic);
      expect(OKActions).toContain(topic);
    }
  });
});

describe('an alarm of the firewall', () => {
  it('counts what all rules of the web ACL block', () => {
    templateOf(prod).hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'animal-store-prod-firewall-blocks',
      MetricName: 'BlockedRequests',
      Dimensions: [
        { Name: 'Region', Value: 'eu-west-1' },
        { Name: 'Rule', Value: 'ALL' },
        { Name: 'WebACL', Value: 'animal-store-prod' },
      ],
    });
  });
});

it('a stage without addressees has neither alarms nor a dashboard', () => {
  const template = templateOf({ ...staging, alarmAddressees: [] });
  for (const type of ['CloudWatch::Alarm', 'CloudWatch::Dashboard', 'SNS::Topic']) {
    template.resourceCountIs(`AWS::${type}`, 0);
  }
});

import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { stages, staging } from '../../infra/settings/stages.ts';
import { metricNames } from '../../lib/telemetry/metric-names.ts';
import { deployedTemplate, idOf, propertiesOf, templateOf } from '../support/templates.ts';

const templates = stages
  .filter(({ monitoring }) => monitoring)
  .map((stage) => ({ stage, template: deployedTemplate(stage) }));

interface Widget {
  readonly alarms?: readonly string[];
  readonly metrics?: readonly unknown[][];
}

/** The dashboard's widgets, with the ids of resources where CloudFormation puts their names. */
const widgetsOf = (template: Template) => {
  const [dashboard] = propertiesOf(template, 'AWS::CloudWatch::Dashboard');
  const parts: unknown[] = dashboard?.['DashboardBody']['Fn::Join'][1];
  const body = parts.map((part) =>
    typeof part === 'string' ? part : Object.values(part ?? {}).flat()[0],
  );
  const { widgets }: { widgets: { properties: Widget }[] } = JSON.parse(body.join(''));
  return widgets.map(({ properties }) => properties);
};

describe.each(templates)('dashboard of $stage.name', ({ template }) => {
  const widgets = widgetsOf(template);

  it('labels each line by what it shows', () => {
    for (const metric of widgets.flatMap(({ metrics = [] }) => metrics)) {
      const line = JSON.stringify(metric).toLowerCase();
      const [field = '', label = ''] = /"(?:id|label)":"(\w+)"/.exec(line) ?? [];
      expect(line.replace(field, '')).toContain(label);
    }
  });

  it('shows the state of every alarm', () => {
    const ids = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
    expect(widgets.flatMap(({ alarms = [] }) => alarms)).toEqual(ids);
  });

  it('shows each metric that the service writes, or an alarm does', () => {
    const text = JSON.stringify(template.toJSON());
    for (const name of Object.values(metricNames)) expect(text).toContain(`"${name}`);
  });
});

it('alarms reach every recipient, when they go off and when they end', () => {
  const pager = 'arn:aws:sns:eu-west-1:777777777777:pager';
  const endpoint = 'https://events.pager.test/animal-store';
  const email = 'on-call@store.test';
  const template = templateOf({ ...staging, alarmRecipients: [pager, endpoint, email] });
  const topic = { Ref: idOf(template, 'AWS::SNS::Topic', 'Monitoring') };
  expect(propertiesOf(template, 'AWS::SNS::Subscription')).toEqual([
    { Protocol: 'https', Endpoint: endpoint, TopicArn: topic },
    { Protocol: 'email', Endpoint: email, TopicArn: topic },
  ]);
  const actions = [topic, pager];
  for (const alarm of propertiesOf(template, 'AWS::CloudWatch::Alarm'))
    expect(alarm).toMatchObject({ AlarmActions: actions, OKActions: actions });
});

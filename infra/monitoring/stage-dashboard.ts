import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  type IMetric,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { metricNames } from '../../lib/contract/metric-names.ts';
import { statusIndex } from '../../lib/contract/tables.ts';
import { runbook, type Stage, serviceName } from '../stages.ts';
import type { MonitoringProps } from './monitoring.ts';
import { type MetricName, operationMetric, tableMetric } from './service-metrics.ts';

export interface StageDashboardProps extends MonitoringProps {
  /** The alarms whose state is shown; those that come later as well. */
  readonly alarms: Alarm[];
}

const columns = 24;
const percentiles = ['p50', 'p90', 'p99'];

/** The dashboard `animal-store-<stage>`: alarms first, then what clients see, then what may be the cause of it. */
export class StageDashboard extends Construct {
  constructor(scope: Construct, id: string, props: StageDashboardProps) {
    super(scope, id);
    const { stage, alarms, restApi, functions, unrouted, petsTable, keysTable } = props;
    const { deploymentStage: api } = restApi;
    const operations = [
      ...[...functions].map(([{ name }, { lambda }]) => ({ name, lambda })),
      { name: 'unrouted', lambda: unrouted.lambda },
    ];
    const byOperation = (metricName: MetricName, statistic?: string) =>
      operations.map(({ name }) => operationMetric(stage, name, metricName, statistic));
    const byFunction = (metricName: string, statistic = 'Sum') =>
      operations.map(({ name, lambda }) => lambda.metric(metricName, { statistic, label: name }));

    const rows: GraphWidgetProps[][] = [
      [
        { title: 'Traffic: requests', left: [api.metricCount()] },
        { title: 'Traffic: requests by operation', left: byOperation(metricNames.requests) },
        {
          title: 'Traffic: creations that came again',
          left: byOperation(metricNames.idempotentReplays),
        },
      ],
      [
        {
          title: 'Errors: answers by class',
          left: [api.metricClientError({ label: '4xx' }), api.metricServerError({ label: '5xx' })],
        },
        { title: 'Errors: 4xx by operation', left: byOperation(metricNames.clientErrors) },
        { title: 'Errors: 5xx by operation', left: byOperation(metricNames.serverErrors) },
      ],
      [
        {
          title: 'Latency: API, ms',
          left: percentiles.map((p) => api.metricLatency({ statistic: p, label: p })),
        },
        {
          title: 'Latency: integration, ms',
          left: percentiles.map((p) => api.metricIntegrationLatency({ statistic: p, label: p })),
        },
        {
          title: 'Latency: calls of DynamoDB by operation, p99, ms',
          left: byOperation(metricNames.dynamodbLatency, 'p99'),
        },
      ],
      [
        {
          title: 'API keys: requests refused by operation',
          left: byOperation(metricNames.authFailures),
        },
        {
          title: 'DynamoDB: throttled attempts by operation',
          left: byOperation(metricNames.throttles),
        },
      ],
      [
        { title: 'Functions: crashes and time-outs', left: byFunction('Errors') },
        { title: 'Functions: throttles', left: byFunction('Throttles') },
        {
          title: 'Functions: concurrent executions',
          left: byFunction('ConcurrentExecutions', 'Maximum'),
          ...(stage.reservedConcurrency !== undefined && {
            leftAnnotations: [{ value: stage.reservedConcurrency, label: 'reserved for each' }],
          }),
        },
      ],
      tableRow('Pets table', stage, petsTable, ['GetItem', 'PutItem', 'Query']),
      capacityAndThrottles(`Index ${statusIndex}`, stage, petsTable, {
        GlobalSecondaryIndexName: statusIndex,
      }),
      tableRow('Keys table', stage, keysTable, ['GetItem']),
    ];
    if (stage.deployment === 'canary') {
      const ofStage = operations
        .map(({ lambda }) => `FunctionName="${lambda.functionName}"`)
        .join(' OR ');
      rows.push(
        ['Invocations', 'Errors'].map((metricName) => ({
          title: `Canary: ${metricName.toLowerCase()} by version`,
          left: [
            new MathExpression({
              expression: `SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName="${metricName}" (${ofStage})', 'Sum', 60)`,
              label: '',
            }),
          ],
        })),
      );
    }

    new Dashboard(this, 'Dashboard', {
      dashboardName: serviceName(stage),
      defaultInterval: Duration.hours(3),
      widgets: [
        [
          new TextWidget({
            markdown: `# ${serviceName(stage)}\nWhat to do when an alarm goes off: ${runbook}`,
            width: columns,
            height: 2,
          }),
        ],
        [new AlarmStatusWidget({ title: 'Alarms', alarms, width: columns, height: 4 })],
        ...rows.map((graphs) =>
          graphs.map((graph) => new GraphWidget({ ...graph, width: columns / graphs.length })),
        ),
      ],
    });
  }
}

const tableRow = (
  title: string,
  stage: Stage,
  table: Table,
  calls: readonly string[],
): GraphWidgetProps[] => {
  const byCall = (metricName: string, statistic: string): IMetric[] =>
    calls.map((Operation) =>
      tableMetric(table, metricName, { Operation }, statistic).with({ label: Operation }),
    );
  return [
    ...capacityAndThrottles(title, stage, table),
    { title: `${title}: latency, p99, ms`, left: byCall('SuccessfulRequestLatency', 'p99') },
    { title: `${title}: errors of DynamoDB`, left: byCall('SystemErrors', 'Sum') },
  ];
};

/** Graphs of a table, or of its index: units a second beside their maximum, and throttled reads and writes. */
const capacityAndThrottles = (
  title: string,
  stage: Stage,
  table: Table,
  dimensions?: Readonly<Record<string, string>>,
): GraphWidgetProps[] => {
  const unitsPerSecond = (kind: 'Read' | 'Write') => {
    const id = kind.toLowerCase();
    return new MathExpression({
      expression: `${id} / PERIOD(${id})`,
      usingMetrics: { [id]: tableMetric(table, `Consumed${kind}CapacityUnits`, dimensions) },
      label: id,
    });
  };
  const throttles = (kind: 'Read' | 'Write') =>
    tableMetric(table, `${kind}ThrottleEvents`, dimensions).with({ label: kind.toLowerCase() });
  return [
    {
      title: `${title}: units a second`,
      left: [unitsPerSecond('Read')],
      right: [unitsPerSecond('Write')],
      leftAnnotations: [{ value: stage.maximumUnits.read, label: 'maximum of reads' }],
      rightAnnotations: [{ value: stage.maximumUnits.write, label: 'maximum of writes' }],
    },
    { title: `${title}: throttles`, left: [throttles('Read'), throttles('Write')] },
  ];
};

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
import { type MetricName, metricNames } from '../../lib/contract/metric-names.ts';
import { statusIndex } from '../../lib/contract/tables.ts';
import { runbook, type Stage, serviceName } from '../stages.ts';
import { type MonitoredService, operationMetric, tableMetric } from './service-metrics.ts';

export interface StageDashboardProps extends MonitoredService {
  /** The alarms whose state is shown. */
  readonly alarms: readonly Alarm[];
}

const columns = 24;
const percentiles = ['p50', 'p90', 'p99'];

/** The dashboard `animal-store-<stage>`: alarms first, then what clients see, then what may be the cause of it. */
export class StageDashboard extends Construct {
  readonly #service: MonitoredService;

  constructor(scope: Construct, id: string, { alarms, ...service }: StageDashboardProps) {
    super(scope, id);
    this.#service = service;
    const { stage } = service;
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
        [
          new AlarmStatusWidget({
            title: 'Alarms',
            alarms: [...alarms],
            width: columns,
            height: 4,
          }),
        ],
        ...this.#rows().map((graphs) =>
          graphs.map((graph) => new GraphWidget({ ...graph, width: columns / graphs.length })),
        ),
      ],
    });
  }

  #rows(): GraphWidgetProps[][] {
    const { stage, petsTable, keysTable } = this.#service;
    return [
      this.#traffic(),
      this.#errors(),
      this.#latency(),
      this.#refusals(),
      this.#functions(),
      tableRow('Pets table', stage, petsTable, ['GetItem', 'PutItem', 'Query']),
      capacityAndThrottles(`Index ${statusIndex}`, stage, petsTable, {
        GlobalSecondaryIndexName: statusIndex,
      }),
      tableRow('Keys table', stage, keysTable, ['GetItem']),
      ...(stage.deployment === 'canary' ? [this.#canary()] : []),
    ];
  }

  #traffic(): GraphWidgetProps[] {
    return [
      { title: 'Traffic: requests', left: [this.#api.metricCount()] },
      { title: 'Traffic: requests by operation', left: this.#byOperation(metricNames.requests) },
      {
        title: 'Traffic: creations that came again',
        left: this.#byOperation(metricNames.idempotentReplays),
      },
    ];
  }

  #errors(): GraphWidgetProps[] {
    return [
      {
        title: 'Errors: answers by class',
        left: [
          this.#api.metricClientError({ label: '4xx' }),
          this.#api.metricServerError({ label: '5xx' }),
        ],
      },
      { title: 'Errors: 4xx by operation', left: this.#byOperation(metricNames.clientErrors) },
      { title: 'Errors: 5xx by operation', left: this.#byOperation(metricNames.serverErrors) },
    ];
  }

  #latency(): GraphWidgetProps[] {
    return [
      {
        title: 'Latency: API, ms',
        left: percentiles.map((p) => this.#api.metricLatency({ statistic: p, label: p })),
      },
      {
        title: 'Latency: integration, ms',
        left: percentiles.map((p) =>
          this.#api.metricIntegrationLatency({ statistic: p, label: p }),
        ),
      },
      {
        title: 'Latency: calls of DynamoDB by operation, p99, ms',
        left: this.#byOperation(metricNames.dynamodbLatency, 'p99'),
      },
    ];
  }

  #refusals(): GraphWidgetProps[] {
    return [
      {
        title: 'API keys: requests refused by operation',
        left: this.#byOperation(metricNames.authFailures),
      },
      {
        title: 'DynamoDB: throttled attempts by operation',
        left: this.#byOperation(metricNames.throttles),
      },
    ];
  }

  #functions(): GraphWidgetProps[] {
    const { reservedConcurrency } = this.#service.stage;
    return [
      { title: 'Functions: crashes and time-outs', left: this.#byFunction('Errors') },
      { title: 'Functions: throttles', left: this.#byFunction('Throttles') },
      {
        title: 'Functions: concurrent executions',
        left: this.#byFunction('ConcurrentExecutions', 'Maximum'),
        ...(reservedConcurrency !== undefined && {
          leftAnnotations: [{ value: reservedConcurrency, label: 'reserved for each' }],
        }),
      },
    ];
  }

  #canary(): GraphWidgetProps[] {
    const ofStage = Object.values(this.#service.functions)
      .map(({ lambda }) => `FunctionName="${lambda.functionName}"`)
      .join(' OR ');
    return ['Invocations', 'Errors'].map((metricName) => ({
      title: `Canary: ${metricName.toLowerCase()} by version`,
      left: [
        new MathExpression({
          expression: `SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName="${metricName}" (${ofStage})', 'Sum', 60)`,
          label: '',
        }),
      ],
    }));
  }

  get #api() {
    return this.#service.restApi.deploymentStage;
  }

  #byOperation(metricName: MetricName, statistic?: string): IMetric[] {
    return Object.keys(this.#service.functions).map((operation) =>
      operationMetric(this.#service.stage, operation, metricName, statistic),
    );
  }

  #byFunction(metricName: string, statistic = 'Sum'): IMetric[] {
    return Object.entries(this.#service.functions).map(([label, { lambda }]) =>
      lambda.metric(metricName, { statistic, label }),
    );
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

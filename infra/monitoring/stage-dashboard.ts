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

const graph = (title: string, left: IMetric[]): GraphWidgetProps => ({ title, left });

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
      graph('Traffic: requests', [this.#api.metricCount()]),
      graph('Traffic: requests by operation', this.#byOperation(metricNames.requests)),
      graph('Traffic: creations that came again', this.#byOperation(metricNames.idempotentReplays)),
    ];
  }

  #errors(): GraphWidgetProps[] {
    const clientErrors = this.#api.metricClientError({ label: '4xx' });
    const serverErrors = this.#api.metricServerError({ label: '5xx' });
    return [
      graph('Errors: answers by class', [clientErrors, serverErrors]),
      graph('Errors: 4xx by operation', this.#byOperation(metricNames.clientErrors)),
      graph('Errors: 5xx by operation', this.#byOperation(metricNames.serverErrors)),
    ];
  }

  #latency(): GraphWidgetProps[] {
    const options = ['p50', 'p90', 'p99'].map((statistic) => ({ statistic, label: statistic }));
    const api = options.map((each) => this.#api.metricLatency(each));
    const integration = options.map((each) => this.#api.metricIntegrationLatency(each));
    const dynamodb = this.#byOperation(metricNames.dynamodbLatency, 'p99');
    return [
      graph('Latency: API, ms', api),
      graph('Latency: integration, ms', integration),
      graph('Latency: calls of DynamoDB by operation, p99, ms', dynamodb),
    ];
  }

  #refusals(): GraphWidgetProps[] {
    const refused = this.#byOperation(metricNames.authFailures);
    const throttled = this.#byOperation(metricNames.throttles);
    return [
      graph('API keys: requests refused by operation', refused),
      graph('DynamoDB: throttled attempts by operation', throttled),
    ];
  }

  #functions(): GraphWidgetProps[] {
    const { reservedConcurrency } = this.#service.stage;
    const concurrency = this.#byFunction('ConcurrentExecutions', 'Maximum');
    return [
      graph('Functions: crashes and time-outs', this.#byFunction('Errors')),
      graph('Functions: throttles', this.#byFunction('Throttles')),
      {
        ...graph('Functions: concurrent executions', concurrency),
        ...(reservedConcurrency !== undefined && {
          leftAnnotations: [
            { value: reservedConcurrency.eachOperation, label: 'reserved for each operation' },
          ],
        }),
      },
    ];
  }

  #canary(): GraphWidgetProps[] {
    const ofStage = Object.values(this.#service.functions)
      .map(({ lambda }) => `FunctionName="${lambda.functionName}"`)
      .join(' OR ');
    return ['Invocations', 'Errors'].map((metricName) => {
      const expression = `SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName="${metricName}" (${ofStage})', 'Sum', 60)`;
      const byVersion = new MathExpression({ expression, label: '' });
      return graph(`Canary: ${metricName.toLowerCase()} by version`, [byVersion]);
    });
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
    graph(`${title}: latency, p99, ms`, byCall('SuccessfulRequestLatency', 'p99')),
    graph(`${title}: errors of DynamoDB`, byCall('SystemErrors', 'Sum')),
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
    graph(`${title}: throttles`, [throttles('Read'), throttles('Write')]),
  ];
};

import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import {
  type MetricName,
  metricNames,
  metricsNamespace,
  versionMetricNames,
} from '../../lib/telemetry/metric-names.ts';
import { serviceName } from '../settings/names.ts';
import { runbookLink } from '../settings/owner.ts';
import {
  type MonitoredService,
  probeMetric,
  serviceMetric,
  tableMetric,
} from './service-metrics.ts';

const width = 24;

/**
 * The dashboard `animal-store-<stage>`, which also shows the state of each alarm. From top to bottom it shows
 * what is wrong, whether the service is up, which clients are affected, what changed, and possible causes.
 */
export class StageDashboard extends Construct {
  constructor(scope: Construct, id: string, service: MonitoredService, alarms: readonly Alarm[]) {
    super(scope, id);
    const dashboardName = serviceName(service.stage);
    const markdown = `# ${dashboardName}\nWhat to do when an alarm goes off: ${runbookLink}`;
    new Dashboard(this, 'Dashboard', {
      dashboardName,
      defaultInterval: Duration.hours(3),
      widgets: [
        [new TextWidget({ markdown, width, height: 2 })],
        [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width, height: 4 })],
        ...rowsOf(service).map((row) =>
          row.map((props) => new GraphWidget({ ...props, width: Math.floor(width / row.length) })),
        ),
      ],
    });
  }
}

const graph = (title: string, ...left: IMetric[]) => ({ title, left });

const rowsOf = ({ stage, restApi, functions, tables: monitored }: MonitoredService) => {
  const api = restApi.deploymentStage;
  const percentiles = ['p50', 'p90', 'p99'].map((statistic) => ({ statistic, label: statistic }));
  const byOperation = (title: string, metricName: MetricName, statistic?: string) =>
    graph(
      `${title} by operation`,
      ...Array.from(functions.keys(), (operation) =>
        serviceMetric(stage, metricName, { operation }, statistic),
      ),
    );
  const byFunction = (title: string, metricName: string, statistic = 'Sum') =>
    graph(
      `Functions: ${title}`,
      ...Array.from(functions, ([label, { lambda }]) =>
        lambda.metric(metricName, { statistic, label }),
      ),
    );
  /**
   * Returns a graph with a line for each version of a function. A line starts when the
   * deployment of its version starts.
   */
  const byVersion = (title: string, metricName: string, statistic: string) => {
    const expression = `SEARCH('{${metricsNamespace},service,operation,version} MetricName="${metricName}" service="${serviceName(stage)}"', '${statistic}', 60)`;
    return graph(`Changed: ${title} by version`, new MathExpression({ expression, label: '' }));
  };
  const reserved = stage.reservedConcurrency?.eachOperation;
  const tables = monitored.flatMap(({ table, indexNames }) => [
    { title: table.node.id.replace('Table', ' table'), table, dimensions: {} },
    ...indexNames.map((name) => ({
      title: `Index ${name}`,
      table,
      dimensions: { GlobalSecondaryIndexName: name },
    })),
  ]);
  return [
    [
      graph('Up: probe success rate', probeMetric(stage, 'Average')),
      byOperation('Up: requests', metricNames.requests),
    ],
    [
      graph(
        'Affected: responses by class',
        api.metricClientError({ label: '4xx' }),
        api.metricServerError({ label: '5xx' }),
      ),
      byOperation('Affected: 5xx', metricNames.serverErrors),
      byOperation('Affected: 4xx', metricNames.clientErrors),
      byOperation('Affected: API keys refused', metricNames.authFailures),
    ],
    [
      graph(
        'Affected: latency of the API, ms',
        ...percentiles.map((each) => api.metricLatency(each)),
      ),
      graph(
        'Affected: latency of the functions, ms',
        ...percentiles.map((each) => api.metricIntegrationLatency(each)),
      ),
      byOperation('Affected: calls of DynamoDB, p99, ms,', metricNames.dynamodbLatency, 'p99'),
    ],
    [
      byVersion('requests', versionMetricNames.requests, 'Sum'),
      byVersion('5xx', versionMetricNames.serverErrors, 'Sum'),
      byVersion('latency, p99, ms,', versionMetricNames.latency, 'p99'),
    ],
    [
      byFunction('crashes and time-outs', 'Errors'),
      byFunction('throttles', 'Throttles'),
      {
        ...byFunction('concurrent executions', 'ConcurrentExecutions', 'Maximum'),
        ...(reserved !== undefined && {
          leftAnnotations: [{ value: reserved, label: 'reserved for each operation' }],
        }),
      },
    ],
    tables.map(({ title, table, dimensions }) => {
      const unitsPerSecond = (kind: 'Read' | 'Write') => {
        const label = kind.toLowerCase();
        const metric = tableMetric(table, `Consumed${kind}CapacityUnits`, dimensions);
        const expression = `${label} / PERIOD(${label})`;
        return new MathExpression({ expression, usingMetrics: { [label]: metric }, label });
      };
      return {
        title: `${title}: units a second`,
        left: [unitsPerSecond('Read')],
        right: [unitsPerSecond('Write')],
      };
    }),
    tables.map(({ title, table, dimensions }) =>
      graph(
        `${title}: throttles`,
        ...['Read', 'Write'].map((kind) =>
          tableMetric(table, `${kind}ThrottleEvents`, dimensions).with({ label: kind }),
        ),
      ),
    ),
  ];
};

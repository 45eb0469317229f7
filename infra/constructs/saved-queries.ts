import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { CheckLine, ProbeLine, RequestLine } from '../../lib/telemetry/log-lines.ts';
import { probeMetricNames } from '../../lib/telemetry/metric-names.ts';
import { serviceName } from '../names.ts';
import type { Stage } from '../stages.ts';
import type { FirewallLine } from './firewall.ts';
import type { accessLogLine } from './pets-api.ts';

/** The lines of each kind of log. */
interface Lines {
  readonly requests: RequestLine;
  readonly gateway: typeof accessLogLine;
  readonly firewall: FirewallLine;
  readonly probe: ProbeLine;
  readonly checks: CheckLine;
}

/** The log groups of each kind of log. */
type Logs = Readonly<Record<keyof Lines, readonly ILogGroup[]>>;

/**
 * The saved queries of CloudWatch Logs Insights, in the folder `animal-store-<stage>`. A query of a log that
 * the stage lacks is left out.
 */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, logs: Logs) {
    super(scope, id);
    for (const [name, { of, queryString, ask }] of Object.entries(queries)) {
      const logGroupNames = of.flatMap((kind) => logs[kind].map((log) => log.logGroupName));
      if (logGroupNames.length === 0) continue;
      // The CDK's `QueryDefinition` has no parameters, for which the console asks:
      // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_QueryParameter.html
      new CfnQueryDefinition(this, name, {
        name: `${serviceName(stage)}/${name}`,
        logGroupNames,
        queryString,
        ...(ask && { parameters: [ask] }),
      });
    }
  }
}

/** The name of a field of a line in a query, such as `cause.name` or `failures.0`. */
type FieldOf<Line> = {
  [Name in keyof Line & string]-?: NonNullable<Line[Name]> extends readonly unknown[]
    ? `${Name}.0`
    : NonNullable<Line[Name]> extends object
      ? `${Name}.${FieldOf<NonNullable<Line[Name]>>}`
      : Name;
}[keyof Line & string];

type Field = { [Kind in keyof Lines]: FieldOf<Lines[Kind]> }[keyof Lines];

interface Query {
  /** The logs that the query reads. */
  readonly of: readonly (keyof Lines)[];
  readonly queryString: string;
  /** The value that the query needs. */
  readonly ask?: { readonly name: string; readonly description: string };
}

/** Returns a query. The values in its text are fields, so that a misspelt one is a type error. */
const query = (text: TemplateStringsArray, ...fields: readonly Field[]): string =>
  String.raw(text, ...fields);

/** Lambda's lines about a crash or a time-out. */
const crash = '/Task timed out|Runtime exited|errorType/';

const queries: Readonly<Record<string, Query>> = {
  'failed requests': {
    of: ['gateway', 'requests'],
    queryString: query`filter ${'status'} >= 500
| stats count(*) as requests, latest(@timestamp) as last by ${'status'}, ${'errorType'}, ${'httpMethod'}, ${'resourcePath'}, ${'operation'}, ${'version'}, ${'code'}, ${'cause.name'}, ${'cause.thrownAt'}
| sort requests desc`,
  },
  'requests by version': {
    of: ['requests'],
    queryString: query`stats count(*) as requests, pct(${'durationMs'}, 99) as p99 by ${'operation'}, ${'version'}, ${'status'}
| sort ${'version'} desc`,
  },
  'slow requests': {
    of: ['requests'],
    queryString: query`fields @timestamp, ${'operation'}, ${'durationMs'}, ${'coldStart'}, ${'status'}, ${'version'}, ${'extendedRequestId'}
| sort ${'durationMs'} desc
| limit 50`,
  },
  crashes: {
    of: ['requests'],
    queryString: `fields @timestamp, @log, @logStream, @message
| filter @message like ${crash}
| sort @timestamp desc
| limit 50`,
  },
  'memory and time': {
    of: ['requests'],
    queryString: `filter @type = "REPORT"
| stats max(@maxMemoryUsed / 1000000) as usedMB, max(@memorySize / 1000000) as givenMB, max(@duration) as longestMs by @log`,
  },
  'busiest clients': {
    of: ['gateway', 'requests'],
    queryString: query`stats count(*) as requests by ${'sourceIp'}, ${'keyId'}, ${'operation'}
| sort requests desc
| limit 50`,
  },
  'refused keys': {
    of: ['gateway'],
    queryString: query`filter ${'status'} = 401
| stats count(*) as requests, earliest(@timestamp) as first, latest(@timestamp) as last by ${'sourceIp'}, ${'httpMethod'}, ${'resourcePath'}
| sort requests desc`,
  },
  'firewall blocks': {
    of: ['firewall'],
    // Of AWS's rule groups, `terminatingRuleId` is the group, and `ruleId` the rule in it.
    queryString: query`filter ${'action'} = "BLOCK"
| parse @message /"terminatingRule":\{"ruleId":"(?<ruleId>[^"]+)/
| stats count(*) as requests by ${'httpRequest.clientIp'}, ${'terminatingRuleId'}, ruleId
| sort requests desc`,
  },
  'one request': {
    of: ['gateway', 'requests'],
    ask: { name: 'id', description: 'The x-amz-apigw-id that the client got' },
    queryString: query`fields @timestamp, @log, ${'sourceIp'}, ${'httpMethod'}, ${'resourcePath'}, ${'status'}, ${'errorType'}, ${'firewallStatus'}, ${'operation'}, ${'code'}, ${'keyId'}, ${'cause.name'}, ${'cause.thrownAt'}
| filter ${'extendedRequestId'} = "{{id}}"`,
  },
  'requests of a key': {
    of: ['requests'],
    ask: { name: 'id', description: 'The id of the key, as npm run keys -- list shows it' },
    queryString: query`fields @timestamp, ${'operation'}, ${'status'}, ${'extendedRequestId'}
| filter ${'keyId'} = "{{id}}"
| sort @timestamp desc
| limit 1000`,
  },
  'corrupt items': {
    of: ['requests'],
    queryString: query`fields @timestamp, ${'operation'}, ${'status'}, ${'corruptItems.0'}, @message
| filter ispresent(${'corruptItems.0'})
| sort @timestamp desc
| limit 50`,
  },
  'code caches': {
    of: ['requests'],
    queryString: query`filter ispresent(${'codeCache'})
| stats count(*) as coldStarts by ${'codeCache'}, ${'nodeVersion'}, ${'operation'}, ${'version'}
| sort coldStarts desc`,
  },
  'probe failures': {
    of: ['probe'],
    queryString: query`fields @timestamp, ${'failure'}
| filter ${probeMetricNames.success} = 0
| sort @timestamp desc
| limit 50`,
  },
  'failed checks': {
    of: ['checks'],
    queryString: query`fields @timestamp, ${'deploymentId'}, ${'failures.0'}, @message
| filter ispresent(${'failures.0'})
| sort @timestamp desc
| limit 20`,
  },
};

import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { serviceName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';

/** The kinds of logs. */
type Log = 'requests' | 'gateway' | 'firewall' | 'probe' | 'checks';

/**
 * The saved queries of CloudWatch Logs Insights, in the folder `animal-store-<stage>`. A query of a log that
 * the stage lacks is left out.
 */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, logs: Record<Log, ILogGroup[]>) {
    super(scope, id);
    for (const [name, { of, id: description, queryString }] of Object.entries(queries)) {
      const logGroupNames = of.flatMap((kind) => logs[kind].map((log) => log.logGroupName));
      if (logGroupNames.length === 0) continue;
      const countsCheck = of.includes('requests') && logs.checks.length > 0;
      // The CDK's `QueryDefinition` has no parameters, for which the console asks:
      // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_QueryParameter.html
      new CfnQueryDefinition(this, name, {
        name: `${serviceName(stage)}/${name}`,
        logGroupNames,
        queryString: countsCheck ? `${checkNote}\n${queryString}` : queryString,
        ...(description && { parameters: [{ name: 'id', description }] }),
      });
    }
  }
}

/**
 * The first line of a query of the functions' logs, a comment.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
 */
const checkNote = '# The requests of the check before traffic are counted, too.';

interface Query {
  /** The logs that the query reads. */
  readonly of: readonly Log[];
  /** The value for which the console asks, as `{{id}}`. */
  readonly id?: string;
  readonly queryString: string;
}

const queries: Readonly<Record<string, Query>> = {
  'failed requests': {
    of: ['gateway', 'requests'],
    queryString: `filter status >= 500
| stats count(*) as requests, earliest(@timestamp) as first, latest(@timestamp) as last by status, errorType, httpMethod, resourcePath, operation, version, code, cause.name, cause.code, cause.call, cause.message, cause.frames.0
| sort requests desc`,
  },
  'requests by version': {
    of: ['requests'],
    queryString: `stats count(*) as requests, pct(durationMs, 99) as p99 by operation, version, status
| sort version desc`,
  },
  'slow requests': {
    of: ['requests'],
    queryString: `fields @timestamp, operation, durationMs, coldStart, status, version, extendedRequestId
| sort durationMs desc
| limit 50`,
  },
  crashes: {
    of: ['requests'],
    queryString: `fields @timestamp, @log, @logStream, @message
| filter @message like /Task timed out|Runtime exited|errorType/
| sort @timestamp desc
| limit 50`,
  },
  'memory and time': {
    of: ['requests'],
    queryString: `filter @type = "REPORT"
| stats max(@maxMemoryUsed / 1000000) as usedMB, max(@memorySize / 1000000) as givenMB, max(@duration) as longestMs by @log`,
  },
  'busiest addresses': {
    of: ['gateway'],
    queryString: `stats count(*) as requests by sourceIp, httpMethod, resourcePath
| sort requests desc
| limit 50`,
  },
  'busiest keys': {
    of: ['requests'],
    // Insights returns at most 10,000 rows.
    queryString: `filter ispresent(keyId)
| stats count(*) as requests, latest(@timestamp) as lastUse by keyId, operation
| sort requests desc
| limit 10000`,
  },
  'refused keys': {
    of: ['gateway'],
    queryString: `filter status = 401
| stats count(*) as requests, earliest(@timestamp) as first, latest(@timestamp) as last by sourceIp, httpMethod, resourcePath
| sort requests desc`,
  },
  'firewall blocks': {
    of: ['firewall'],
    // Of AWS's rule groups, `terminatingRuleId` is the group, and `ruleId` the rule in it.
    // The text is raw, because the linter would remove the backslash before the brace of any other string.
    queryString: String.raw`filter action = "BLOCK"
| parse @message /"terminatingRule":\{"ruleId":"(?<ruleId>[^"]+)/
| stats count(*) as requests by httpRequest.clientIp, terminatingRuleId, ruleId
| sort requests desc`,
  },
  'one request': {
    of: ['gateway', 'requests'],
    id: 'The x-amz-apigw-id that the client got',
    queryString: `fields @timestamp, @log, sourceIp, httpMethod, resourcePath, status, errorType, operation, code, keyId, cause.name, cause.code, cause.call, cause.message, cause.frames.0, @message
| filter extendedRequestId = "{{id}}"`,
  },
  'requests of a key': {
    of: ['requests'],
    id: 'The id of the key',
    queryString: `fields @timestamp, operation, status, extendedRequestId
| filter keyId = "{{id}}"
| sort @timestamp desc
| limit 1000`,
  },
  'corrupt items': {
    of: ['requests'],
    queryString: `fields @timestamp, operation, status, corruptItems.0, @message
| filter ispresent(corruptItems.0)
| sort @timestamp asc
| limit 50`,
  },
  'cold starts': {
    of: ['requests'],
    // The first brackets in the name of a log stream have the version of the function:
    // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-loggroups.html
    queryString: String.raw`filter ispresent(@initDuration)
| parse @logStream /\[(?<version>[^\]]+)\]/
| stats count(*) as coldStarts, pct(@initDuration, 50) as p50, pct(@initDuration, 90) as p90, pct(@initDuration, 99) as p99 by @log, version
| sort version desc`,
  },
  'probe failures': {
    of: ['probe'],
    queryString: `fields @timestamp, failure
| filter ProbeSuccess = 0
| sort @timestamp desc
| limit 50`,
  },
  'failed checks': {
    of: ['checks'],
    queryString: `fields @timestamp, deploymentId, failures.0, @message
| filter ispresent(failures.0)
| sort @timestamp desc
| limit 20`,
  },
};

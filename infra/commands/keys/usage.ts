import { setTimeout as pause } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  type ResultField,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { metricNames } from '../../../lib/telemetry/metric-names.ts';

/**
 * The maximum number of rows that a query returns:
 * https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html
 */
const maxRows = 10_000;

/** The metrics of client errors and server errors are only in lines that count such an error. */
const queryString = `filter ispresent(keyId)
  | stats count(*) as requests, count(${metricNames.clientErrors}) as clientErrors,
    count(${metricNames.serverErrors}) as serverErrors, latest(timestamp) as lastUse by keyId, operation
  | sort keyId`;

/**
 * Returns how often each key called each operation in the last days. `errors` counts the responses with
 * a status of 400 or more. `lastUse` is ISO 8601 in UTC. Throws when the query fails, or when it finds
 * more than it can return.
 */
export const readUsage = async (
  config: { readonly region?: string },
  logGroupNames: string[],
  days: number,
) => {
  const client = new CloudWatchLogsClient(config);
  const endTime = Math.floor(Date.now() / 1_000);
  const period = { startTime: endTime - days * 86_400, endTime };
  const { queryId } = await client.send(
    new StartQueryCommand({ logGroupNames, ...period, queryString, limit: maxRows }),
  );
  for (;;) {
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
    if (results.length >= maxRows) throw new Error('The query finds too much: ask for fewer days');
    if (status === 'Complete') return results.map(usageOf);
    if (status !== 'Scheduled' && status !== 'Running') throw new Error(`The query is ${status}`);
    await pause(500);
  }
};

const usageOf = (row: readonly ResultField[]) => {
  const fields = new Map(row.map(({ field, value }) => [field, value]));
  return {
    keyId: fields.get('keyId') ?? '',
    operation: fields.get('operation') ?? '',
    requests: Number(fields.get('requests')),
    errors: Number(fields.get('clientErrors')) + Number(fields.get('serverErrors')),
    lastUse: fields.get('lastUse') ?? '',
  };
};

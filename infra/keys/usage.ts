import { setTimeout as pause } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { metricNames } from '../../lib/contract/metric-names.ts';
import type { DeployedStage } from './stage-keys.ts';

/** How often a key called an operation; `errors` are responses from 400, `lastUse` is ISO 8601 in UTC. */
export interface Usage {
  readonly keyId: string;
  readonly operation: string;
  readonly requests: number;
  readonly errors: number;
  readonly lastUse: string;
}

/** The most rows that a query returns: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html */
const maxRows = 10_000;

/** Only a line of a client error or a server error has the metric. */
const query = `filter ispresent(keyId)
  | stats count(*) as requests, count(${metricNames.clientErrors}) as clientErrors,
    count(${metricNames.serverErrors}) as serverErrors, latest(timestamp) as lastUse by keyId, operation
  | sort keyId`;

/** Asks the functions' logs of the last days. Throws when the query fails, or finds more than it can return. */
export const readUsage = async (stage: DeployedStage, days: number): Promise<Usage[]> => {
  const client = new CloudWatchLogsClient(stage.config);
  const endTime = Math.floor(Date.now() / 1_000);
  const startTime = endTime - days * 86_400;
  const logGroupNames = [...stage.logGroupNames];
  const { queryId } = await client.send(
    new StartQueryCommand({
      logGroupNames,
      startTime,
      endTime,
      queryString: query,
      limit: maxRows,
    }),
  );
  for (;;) {
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
    if (results.length >= maxRows) throw new Error('The query finds too much: ask for fewer days');
    if (status === 'Complete') {
      return results.map((row) => usageOf(new Map(row.map(({ field, value }) => [field, value]))));
    }
    if (status !== 'Scheduled' && status !== 'Running') throw new Error(`The query is ${status}`);
    await pause(500);
  }
};

const usageOf = (row: ReadonlyMap<string | undefined, string | undefined>): Usage => ({
  keyId: row.get('keyId') ?? '',
  operation: row.get('operation') ?? '',
  requests: Number(row.get('requests')),
  errors: Number(row.get('clientErrors')) + Number(row.get('serverErrors')),
  lastUse: row.get('lastUse') ?? '',
});

import { setTimeout as pause } from 'node:timers/promises';
import ms, { type StringValue } from 'ms';
import { messageOf, printable } from './terminal.ts';

/** Says what is not so yet. */
export class NotYet extends Error {}

/**
 * The errors with which DynamoDB refuses a call for a while: recovery that a new table does not have yet,
 * which takes minutes (https://github.com/scalar-labs/scalardb/pull/347), too many restores at once, and a
 * table, an index or a backup that is being made or changed. API Gateway also responds to too many calls with
 * LimitExceededException.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
 * https://docs.aws.amazon.com/apigateway/latest/api/API_UpdateStage.html
 */
const refusalsForAWhile: readonly string[] = [
  'ContinuousBackupsUnavailableException',
  'LimitExceededException',
  'ResourceInUseException',
  'TableInUseException',
  'BackupInUseException',
];

/** Tells whether an attempt that threw this error can succeed later. */
const canSucceedLater = (error: unknown): boolean =>
  error instanceof NotYet || (error instanceof Error && refusalsForAWhile.includes(error.name));

/**
 * Repeats an attempt for as long as it throws a `NotYet`, or DynamoDB refuses it for a while. Prints what it
 * waits for. Throws every other error, and the last one after the time limit.
 */
export const waitFor = async <Result>(
  limit: StringValue,
  attempt: () => Promise<Result>,
): Promise<Result> => {
  const end = Date.now() + ms(limit);
  let printed: string | undefined;
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, 20_000)) {
    try {
      return await attempt();
    } catch (error) {
      if (!canSucceedLater(error)) throw error;
      const message = messageOf(error);
      if (Date.now() >= end)
        throw new Error(`${message}, and that for ${limit}: run the command again later`);
      if (message !== printed) console.log(printable(`Waiting for at most ${limit}: ${message}`));
      printed = message;
    }
    await pause(pauseMs);
  }
};

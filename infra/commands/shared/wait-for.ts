import { setTimeout as pause } from 'node:timers/promises';
import ms, { type StringValue } from 'ms';
import { messageOf, printable } from './terminal.ts';

/** Says what is not so yet. */
export class NotYet extends Error {}

/**
 * Repeats an attempt for as long as it throws a `NotYet`. Prints what it
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
      if (!(error instanceof NotYet)) throw error;
      const message = messageOf(error);
      if (Date.now() >= end)
        throw new Error(`${message}, and that for ${limit}: run the command again later`);
      if (message !== printed) console.log(printable(`Waiting for at most ${limit}: ${message}`));
      printed = message;
    }
    await pause(pauseMs);
  }
};

import type { Stage } from '../../settings/stages.ts';
import { failedCallOf } from './failed-calls.ts';
import { change, interrupted } from './run-program.ts';
import { type Ask, messageOf, printable } from './terminal.ts';

/** What a command will change, and what clients and operators will notice. */
export interface Plan {
  readonly notices: readonly string[];
  /** The change, which is described before it is made; absent if there is nothing to change. */
  readonly work?: { readonly description: string; readonly run: () => Promise<unknown> };
}

/** Where a command does what it plans. */
interface Place {
  readonly stage: Pick<Stage, 'name'>;
  readonly account: string;
  readonly region: string;
}

/** How an operator agrees: with `--yes`, or when asked. `ask` is undefined if there is no terminal. */
interface Consent {
  readonly yes?: true | undefined;
  readonly ask: Ask | undefined;
}

/** Throws if the operator has not agreed yet, and can't be asked. */
export const requireConsent = ({ yes, ask }: Consent): void => {
  if (!yes && !ask) throw new Error('There is no terminal to ask: add --yes');
};

/**
 * Prints where a command does what, and before that what clients will notice; waits until the operator types
 * the name of the stage; and does it. Throws if another word is typed, if nobody can be asked, or if the
 * change fails.
 */
export const perform = async (
  { stage, account, region }: Place,
  { notices, work }: Plan,
  consent: Consent,
  print: (line: string) => void = console.log,
): Promise<void> => {
  interrupted.throwIfAborted();
  const place = `Stage ${stage.name}, account ${account}, region ${region}`;
  const description = work?.description ?? 'There is nothing to change';
  for (const line of [place, ...notices, description]) print(printable(line));
  if (!work) return;
  requireConsent(consent);
  if (!consent.yes) {
    const answer = await consent.ask?.(printable(`Type ${stage.name} to do this: `));
    if (answer !== stage.name) throw new Error('Nothing was changed');
  }
  await change(work.run).catch((cause: unknown) => {
    // Any other error says itself what to do.
    const isCall = cause instanceof Error && failedCallOf(cause) !== undefined;
    if (!isCall) throw cause;
    const failed = messageOf(cause).replace(/\.?$/, '.');
    throw new Error(`${failed} Run the same command again: it does what is left.`, { cause });
  });
  print('Done');
};

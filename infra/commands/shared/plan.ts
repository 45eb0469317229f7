import type { Stage } from '../../settings/stages.ts';
import { failedCallOf } from './failed-calls.ts';
import { change, interrupted } from './run-program.ts';
import { type Ask, messageOf, printable } from './terminal.ts';

/** What a command will do, and what clients and operators will notice. */
export interface Plan {
  readonly notices: readonly string[];
  readonly steps: readonly Step[];
}

/** Something that a command does. It is described before it is done. */
interface Step {
  readonly description: string;
  readonly run: () => Promise<unknown>;
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

/** Whether this process has begun a step. */
let hasBegun = false;

/**
 * Prints where a command does what, and before that what clients will notice; waits until the operator types the
 * name of the stage; and does it step by step. Throws if another word is typed, if nobody can be asked, or, with
 * its number, if a step fails.
 */
export const perform = async (
  { stage, account, region }: Place,
  { notices, steps }: Plan,
  consent: Consent,
  print: (line: string) => void = console.log,
): Promise<void> => {
  interrupted.throwIfAborted();
  const numbered = steps.map(({ description }, at) => `${at + 1}. ${description}`);
  const lines = [
    `Stage ${stage.name}, account ${account}, region ${region}`,
    ...notices,
    ...numbered,
  ];
  for (const line of lines) print(printable(line));
  if (steps.length === 0) {
    print('There is nothing to change');
    return;
  }
  requireConsent(consent);
  if (!consent.yes) {
    const answer = await consent.ask?.(printable(`Type ${stage.name} to do this: `));
    if (answer !== stage.name) throw new Error(`Nothing ${hasBegun ? 'more ' : ''}was changed`);
  }
  for (const [at, { run }] of steps.entries()) {
    hasBegun = true;
    await change(run).catch((cause: unknown) => {
      const failed = `Step ${at + 1} failed: ${messageOf(cause)}`;
      // Any other error says itself what to do.
      const isCall = cause instanceof Error && failedCallOf(cause) !== undefined;
      const next = 'Run the same command again: it does what is left.';
      throw new Error(isCall ? `${failed.replace(/\.?$/, '.')} ${next}` : failed, { cause });
    });
    print(`Step ${at + 1} is done`);
  }
};

import type { Command } from 'commander';
import { refuseOptionsOfNpm } from './refuse-options-of-npm.ts';
import { fail } from './terminal.ts';

const interruption = new AbortController();

/**
 * Is aborted at Ctrl-C. What still runs for a moment, until it is cleaned up, starts and asks nothing more.
 */
export const interrupted: AbortSignal = interruption.signal;

let mayHaveChanged = false;

/**
 * Does something that changes a stage or an account. At Ctrl-C, the program then says that AWS may continue.
 */
export const change = <Result>(work: () => Promise<Result>): Promise<Result> => {
  mayHaveChanged = true;
  return work();
};

let adviceIfLost = '';

/** Says what to do if the output of this program can't be written, because it has what nobody else knows. */
export const ifOutputIsLost = (advice: string): void => {
  adviceIfLost = advice;
};

const cleanups: (() => Promise<unknown>)[] = [];

/** Does something, and cleans up after it, once: when it ends, when it fails, or at Ctrl-C. */
export const withCleanup = async <Result>(
  cleanup: () => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> => {
  let cleaned: Promise<unknown> | undefined;
  const cleanUp = () => {
    cleaned ??= cleanup();
    return cleaned;
  };
  cleanups.push(cleanUp);
  try {
    return await work();
  } finally {
    await cleanUp();
    cleanups.splice(cleanups.indexOf(cleanUp), 1);
  }
};

const cleanUpAll = async () => {
  for (const cleanUp of cleanups.toReversed()) await cleanUp().catch(() => {});
};

const interrupt = async () => {
  interruption.abort();
  const advice = mayHaveChanged ? ' AWS may continue. Run the same command again.' : '';
  console.error(`error: Interrupted.${advice}`);
  await cleanUpAll();
  process.exit(130);
};

/**
 * Runs the program of a command. It ends with exit code 1 and a line about each error, also if its output
 * can't be written, or at Ctrl-C with 130 and a line. Another Ctrl-C ends it at once.
 */
export const runProgram = async (program: Command): Promise<void> => {
  // `console.log` ignores such an error, for example that of a closed pipe.
  process.stdout.once('error', ({ message }) =>
    fail(new Error(`The output can't be written: ${message}. ${adviceIfLost}`.trim())),
  );
  let interruptedAt: number | undefined;
  process.on('SIGINT', () => {
    // npm passes on to its script a signal that the terminal has sent to both.
    if (interruptedAt !== undefined && Date.now() > interruptedAt + 1_000) process.exit(130);
    if (interruptedAt === undefined) void interrupt();
    interruptedAt ??= Date.now();
  });
  try {
    refuseOptionsOfNpm(program);
    await program.parseAsync();
  } catch (error) {
    if (interrupted.aborted) return;
    fail(error);
    // A connection that is not answered would keep the process running.
    process.exit();
  }
};

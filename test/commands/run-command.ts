import type { Command } from 'commander';
import { vi } from 'vitest';
import { messageOf } from '../../infra/commands/shared/terminal.ts';

/**
 * Runs the program of a command in this process. Returns what it printed, and the message of the error, or of
 * each error, that ended it, or '' if none did.
 */
export const runCommand = async (program: Command, words: readonly string[]) => {
  const printed = { out: '', err: '' };
  vi.spyOn(console, 'log').mockImplementation((line) => {
    printed.out += `${line}\n`;
  });
  vi.spyOn(console, 'error').mockImplementation((line) => {
    printed.err += `${line}\n`;
  });
  for (const each of [program, ...program.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  let error = '';
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (thrown) {
    const errors = thrown instanceof AggregateError ? thrown.errors : [thrown];
    error = errors.map(messageOf).join('\n');
  }
  return { ...printed, error };
};

import type { Command } from 'commander';
import { shellWord } from './terminal.ts';

/**
 * Options that npm has, too. They may be settings of the user, and a command that loses one only asks, or
 * prints text.
 */
const alsoOfNpm = ['--yes', '--json'];

/**
 * Throws for options before `--`, because npm takes them for its own, and the program would run without them.
 * The warning of npm is one of those that .npmrc hides. npm passes each as a variable, such as
 * `npm_config_expires_in`, whose value is `true` if it was not given with `=`.
 * https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
 */
export const refuseOptionsOfNpm = (program: Command): void => {
  const options = [program, ...program.commands].flatMap((command) => command.options);
  const taken = new Set<string>();
  for (const { long, flags, required } of options) {
    if (!long || alsoOfNpm.includes(long)) continue;
    const value = process.env[`npm_config_${long.slice(2).replaceAll('-', '_')}`];
    if (!value) continue;
    const withoutValue = required ? flags : long;
    taken.add(value === 'true' ? withoutValue : `${long}=${shellWord(value)}`);
  }
  if (taken.size === 0) return;
  // The other words are not repeated, because one may be an API key.
  const others = process.argv.length > 2 ? ['…'] : [];
  const right = ['npm run', process.env['npm_lifecycle_event'], '--', ...others, ...taken].join(
    ' ',
  );
  throw new Error(`npm took an option for its own. Give it after --: ${right}`);
};

import { createInterface } from 'node:readline/promises';
import { printable } from './printable.ts';

/** Asks an operator to type something. */
export type Ask = (question: string) => Promise<string>;

/** Asks in the terminal; `undefined` if there is none. */
export const askInTerminal: Ask | undefined = process.stdin.isTTY
  ? async (question) => {
      using terminal = createInterface({ input: process.stdin, output: process.stderr });
      try {
        // Without `await`, the terminal would be closed before the answer is typed.
        return await terminal.question(question);
      } catch {
        // Ctrl-C and Ctrl-D are no answer, and leave the cursor behind the question.
        console.error();
        return '';
      }
    }
  : undefined;

/** Prints where a command will do what, and before that what clients will notice. */
export const announce = (
  where: { readonly stage: string; readonly account: string; readonly region: string },
  steps: readonly string[],
  ...notices: readonly string[]
): void => {
  const { stage, account, region } = where;
  const numbered = steps.map((step, at) => `${at + 1}. ${step}`);
  const lines = [`Stage ${stage}, account ${account}, region ${region}`, ...notices, ...numbered];
  for (const line of lines) console.log(printable(line));
};

/** Waits until an operator types a word. Throws if another one is typed, or nobody can be asked. */
export const confirm = async (ask: Ask | undefined, word: string, instead = ''): Promise<void> => {
  if (!ask) throw new Error(`There is no terminal to ask${instead}`);
  if ((await ask(printable(`Type ${word} to do this: `))) !== word)
    throw new Error('Nothing was changed');
};

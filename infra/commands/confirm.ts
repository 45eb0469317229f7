import { createInterface } from 'node:readline/promises';

/** Asks an operator to type something. */
export type Ask = (question: string) => Promise<string>;

/** Asks in the terminal; `undefined` if there is none. */
export const askInTerminal: Ask | undefined = process.stdin.isTTY
  ? async (question) => {
      using terminal = createInterface({ input: process.stdin, output: process.stderr });
      // Without `await`, the terminal would be closed before the answer is typed.
      return await terminal.question(question);
    }
  : undefined;

/** Prints where a command will do what. */
export const announce = (
  where: { readonly stage: string; readonly account: string; readonly region: string },
  steps: readonly string[],
): void => {
  const { stage, account, region } = where;
  console.log(`Stage ${stage}, account ${account}, region ${region}`);
  for (const [at, step] of steps.entries()) console.log(`${at + 1}. ${step}`);
};

/** Waits until an operator types a word. Throws if another one is typed, or nobody can be asked. */
export const confirm = async (ask: Ask | undefined, word: string, instead = ''): Promise<void> => {
  if (!ask) throw new Error(`There is no terminal to ask${instead}`);
  if ((await ask(`Type ${word} to do this: `)) !== word) throw new Error('Nothing was changed');
};

import { createInterface } from 'node:readline/promises';
import { fail } from '../../message-of.ts';
import { keysProgram } from './program.ts';

const confirm = async (question: string): Promise<boolean> => {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test(await terminal.question(`${question} [y/N] `));
};

await keysProgram(process.stdin.isTTY ? confirm : undefined)
  .parseAsync()
  .catch(fail);

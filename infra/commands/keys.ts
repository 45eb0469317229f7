import { createInterface } from 'node:readline/promises';
import { keysProgram } from '../keys/program.ts';
import { fail } from '../message-of.ts';

const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await terminal.question(`${question} [y/N] `));
  } finally {
    terminal.close();
  }
};

await keysProgram(process.stdin.isTTY ? confirm : undefined)
  .parseAsync()
  .catch(fail);

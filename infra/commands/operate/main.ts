import { createInterface } from 'node:readline/promises';
import { fail } from '../../message-of.ts';
import { operateProgram } from './program.ts';

const ask = async (question: string): Promise<string> => {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return terminal.question(question);
};

await operateProgram(process.stdin.isTTY ? ask : undefined)
  .parseAsync()
  .catch(fail);

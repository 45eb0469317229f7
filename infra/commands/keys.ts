import { createInterface } from 'node:readline/promises';
import { runKeys } from '../keys/program.ts';

const confirm = async (question: string): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await terminal.question(`${question} [y/N] `));
  } finally {
    terminal.close();
  }
};

process.exitCode = await runKeys(process.argv.slice(2), {
  console,
  confirm: process.stdin.isTTY ? confirm : undefined,
});

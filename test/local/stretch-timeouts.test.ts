import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';

it('a function in a debugger has time until its deadline, and does not wait long before it calls DynamoDB again', () => {
  const script = `
    const print = (text) => () => console.log(text);
    setTimeout(print('pause after a second attempt'), 100);
    setTimeout(print('time limit of a connection'), 500);
    AbortSignal.timeout(500).onabort = print('time limit of a request');
    const start = process.hrtime.bigint();
    // Not stretched: Node.js runs timers in the order of their ends, however late it is.
    setInterval(() => {
      if (process.hrtime.bigint() - start > 500_000_000n) console.log('deadline of a request');
      process.exit();
    }, 1_000);`;
  const preload = join(projectDirectory, 'infra/local/lambda/stretch-timeouts.cjs');
  const words = ['--require', preload, '--eval', script];
  const printed = execFileSync(process.execPath, words, { encoding: 'utf8' });
  expect(printed).toBe('pause after a second attempt\n');
});

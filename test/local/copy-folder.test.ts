import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { newCopyFolder } from '../../infra/local/copy-folder.ts';

it('newCopyFolder removes the folders of processes that were killed, and of no others', async () => {
  const module = join(projectDirectory, 'infra/local/copy-folder.ts');
  const script = `const { newCopyFolder } = await import(${JSON.stringify(module)});
    process.stdout.write(await newCopyFolder());
    setInterval(() => {}, 1_000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = `${await once(owner.stdout, 'data')}`;
  const later = async () => {
    const own = await newCopyFolder();
    onTestFinished(() => rm(own, { recursive: true }));
    return existsSync(folder);
  };
  expect(await later()).toBe(true);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  expect(await later()).toBe(false);
});

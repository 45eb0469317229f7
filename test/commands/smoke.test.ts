import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';

it.each([undefined, ''])('npm run smoke asks for a stage when BASE_URL is %j', (BASE_URL) => {
  const { status, stderr } = spawnSync('npm', ['run', 'smoke'], {
    cwd: projectDirectory,
    env: { ...process.env, BASE_URL },
    encoding: 'utf8',
  });
  expect(status).not.toBe(0);
  expect(stderr).toContain('BASE_URL: is not set. Give the base address of a stage');
});

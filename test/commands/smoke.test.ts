import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';

it.each([
  ['BASE_URL', {}],
  ['BASE_URL', { BASE_URL: '' }],
  ['API_KEY', { BASE_URL: 'https://pets.test/v1' }],
])('npm run smoke asks in one line for %s, given %j', (missing, variables) => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'smoke'], {
    cwd: projectDirectory,
    env: { PATH: process.env['PATH'], ...variables },
    encoding: 'utf8',
  });
  expect(status).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr).toMatch(new RegExp(`^.*${missing}: is not set\\. Give .*\\n$`));
});

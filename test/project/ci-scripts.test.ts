import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { pathWith, writePrograms } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const scripts = join(projectDirectory, '.ci');
const variables = {
  GITHUB_SERVER_URL: 'https://github.test',
  GITHUB_REPOSITORY: 'store/service',
  GITHUB_RUN_ID: '1',
};

/** Runs a script with these programs on its PATH. */
const run = async (words: readonly string[], programs: Readonly<Record<string, string>>) => {
  const env = { ...variables, PATH: await pathWith(programs) };
  return spawnSync('bash', words, { env, encoding: 'utf8' });
};

it.each([0, 1, 7])('with-ministack ends with the exit code of its command: %i', async (code) => {
  const folder = await temporaryFolder();
  const script = join(folder, '.ci/with-ministack');
  cpSync(join(scripts, 'with-ministack'), script);
  await writePrograms(folder, { '.ci/python-tools': '', '.build/venv/bin/python': 'echo 1' });
  const words = [script, 'sh', '-c', `exit ${code}`];
  const { status } = await run(words, { openssl: '', setsid: '', curl: '' });
  expect(status).toBe(code);
});

it.each([
  ['opens an issue', 'echo 0', { status: 0, isOpened: true }],
  ['opens no second issue', 'echo 1', { status: 0, isOpened: false }],
  ['fails if GitHub does', 'exit 1', { status: 1, isOpened: false }],
])('open-issue %s', async (_what, list, expected) => {
  const gh = `if [ "$2" = list ]; then ${list}; else echo "$*"; fi`;
  const { status, stdout } = await run([join(scripts, 'open-issue'), 'It fails'], { gh });
  const isOpened = stdout.startsWith('issue create --title It fails');
  expect({ status, isOpened }).toEqual(expected);
});

describe('publish-client', () => {
  it.each([
    ['publishes', 'store', 'true', 'echo published', { status: 0, isPublished: true }],
    ['publishes none twice', 'store', 'echo 1.0.0', 'exit 1', { status: 0, isPublished: false }],
    ['publishes no example', 'example.com', 'true', 'exit 1', { status: 0, isPublished: false }],
    ['fails if npm does', 'store', 'true', 'exit 1', { status: 1, isPublished: false }],
  ])('%s', async (_what, scope, view, publish, expected) => {
    const folder = await temporaryFolder();
    writeFileSync(join(folder, 'package.json'), `{\n  "name": "@${scope}/client"\n}`);
    const npm = `case $1 in view) ${view} ;; publish) ${publish} ;; esac`;
    const words = [join(scripts, 'publish-client'), folder];
    const { status, stdout } = await run(words, { npm, jq: 'echo @store/client@1.0.0' });
    expect({ status, isPublished: stdout.includes('published\n') }).toEqual(expected);
  });
});

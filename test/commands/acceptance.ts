import { spawnSync } from 'node:child_process';
import { program } from 'commander';
import ms from 'ms';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { openStage } from '../../infra/commands/keys/stage-keys.ts';
import { parallelRequestsFor } from '../../infra/commands/preflight/parallel-requests.ts';
import { concurrencyQuota } from '../../infra/commands/preflight/preflight.ts';
import { stageOption } from '../../infra/commands/stage-option.ts';
import { fail } from '../../infra/message-of.ts';
import { emulated, type Stage } from '../../infra/settings/stages.ts';

/** Runs the acceptance tests for all to see, against what the variables name. */
const runTests = (words: readonly string[], variables?: Readonly<Record<string, string>>) => {
  const given = ['run', '--config', 'test/vitest.config.ts', 'test/acceptance', ...words];
  const env = { ...process.env, ...variables };
  process.exitCode =
    spawnSync('vitest', given, { cwd: projectDirectory, stdio: 'inherit', env }).status ?? 1;
};

/** The number of requests at once for an account with this quota, unless the caller has set one. */
const parallelRequests = (quota: number): string =>
  process.env['PARALLEL_REQUESTS'] ?? `${parallelRequestsFor(quota)}`;

/** The quota of a new account, for a deployment in an account that can't be asked. */
const quotaOfNewAccount = 10;

/** Runs the acceptance tests against a deployed stage, with a key that is revoked at the end. */
const runAgainst = async (stage: Stage, words: readonly string[]) => {
  const { baseAddress, keys } = await openStage(stage);
  const { apiKey, record } = await keys.issue('acceptance', ms('1h'));
  try {
    // An emulator serves the address of the stack under another host name.
    const { BASE_URL = baseAddress } = process.env;
    const PARALLEL_REQUESTS = parallelRequests(await concurrencyQuota(stage));
    runTests(words, { BASE_URL, API_KEY: apiKey, PARALLEL_REQUESTS });
  } finally {
    await keys.revoke(record.keyId);
  }
};

await program
  .name('npm run acceptance --')
  .description(
    'Runs the acceptance tests on this machine, against BASE_URL with API_KEY, or against a stage.',
  )
  .addOption(stageOption('the stage to test, with a key that this issues and revokes'))
  .option('--emulator', 'an AWS-compatible emulator, in the account of the emulator')
  .argument('[options...]', 'files and options of Vitest')
  .allowUnknownOption()
  .action(async (words: string[], options: { stage?: Stage; emulator?: true }) => {
    const { stage, emulator } = options;
    const { BASE_URL } = process.env;
    if (stage === undefined)
      runTests(words, BASE_URL ? { PARALLEL_REQUESTS: parallelRequests(quotaOfNewAccount) } : {});
    else await runAgainst(emulator ? emulated(stage) : stage, words);
  })
  .parseAsync()
  .catch(fail);

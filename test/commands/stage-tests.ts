import { spawnSync } from 'node:child_process';
import { program } from 'commander';
import ms from 'ms';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { openStage } from '../../infra/commands/keys/stage-keys.ts';
import { fail } from '../../infra/commands/message-of.ts';
import { printable } from '../../infra/commands/printable.ts';
import { stageOption } from '../../infra/commands/stage-option.ts';
import { emulated, isProduction, type Stage, stages } from '../../infra/settings/stages.ts';

/** Runs the acceptance tests for all to see, against what the variables name, and first says what that is. */
const runTests = (
  tested: string,
  words: readonly string[],
  variables?: Readonly<Record<string, string>>,
) => {
  console.log(printable(`Testing ${tested}`));
  const given = ['run', '--config', 'test/vitest.config.ts', 'test/acceptance', ...words];
  const env = { ...process.env, ...variables };
  process.exitCode =
    spawnSync('vitest', given, { cwd: projectDirectory, stdio: 'inherit', env }).status ?? 1;
};

/** Runs the acceptance tests against a deployed stage, with a key that is revoked at the end. */
const runAgainst = async (stage: Stage, words: readonly string[]) => {
  const { account, region, baseAddress, keys } = await openStage(stage);
  const { apiKey, record } = await keys.issue('acceptance', ms('1h'));
  try {
    const tested = `${stage.name}, account ${account}, region ${region}, at ${baseAddress}`;
    runTests(tested, words, { BASE_URL: baseAddress, API_KEY: apiKey });
  } finally {
    await keys.revoke(record.keyId);
  }
};

await program
  .name('npm run acceptance --')
  .description(
    'Runs the acceptance tests against the bundles on this machine, BASE_URL with API_KEY, or a stage. They add some 300 pets that nobody can delete, so in production use npm run smoke.',
  )
  .addOption(
    stageOption(
      'the stage to test, with a key that this issues and revokes',
      stages.filter((stage) => !isProduction(stage)),
    ),
  )
  .option('--emulator', 'an AWS-compatible emulator, in the account of the emulator')
  .argument('[options...]', 'files and options of Vitest')
  .allowUnknownOption()
  .action(async (words: string[], options: { stage?: Stage; emulator?: true }) => {
    const { stage, emulator } = options;
    const { BASE_URL, API_KEY = '' } = process.env;
    if (API_KEY.startsWith('pets_live_'))
      throw new Error(
        'API_KEY is a key of production, where these tests would leave 300 pets that nobody can delete: use npm run smoke',
      );
    if (stage && BASE_URL)
      throw new Error(`BASE_URL is set to ${BASE_URL}: leave out --stage, or unset BASE_URL`);
    if (stage) await runAgainst(emulator ? emulated(stage) : stage, words);
    else runTests(BASE_URL || 'the bundles on this machine', words);
  })
  .parseAsync()
  .catch(fail);

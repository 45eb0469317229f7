import { spawnSync } from 'node:child_process';
import { Command } from 'commander';
import ms from 'ms';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { openStage } from '../../infra/commands/shared/open-stage.ts';
import { change, runProgram, withCleanup } from '../../infra/commands/shared/run-program.ts';
import { stageOption, withEmulator } from '../../infra/commands/shared/stage-option.ts';
import { printable } from '../../infra/commands/shared/terminal.ts';
import { isProduction, type Stage, stages } from '../../infra/settings/stages.ts';

interface TestOptions {
  readonly stage?: Stage;
  readonly emulator?: true;
}

/** Runs Vitest for all to see, and first says what it tests. */
const runVitest = (
  tested: string,
  words: readonly string[],
  variables?: Readonly<Record<string, string>>,
) => {
  console.log(printable(`Testing ${tested}`));
  const given = ['run', '--config', 'test/vitest.config.ts', ...words];
  const env = { ...process.env, ...variables };
  process.exitCode =
    spawnSync('vitest', given, { cwd: projectDirectory, stdio: 'inherit', env }).status ?? 1;
};

/** Runs Vitest against a deployed stage, with a key that is revoked at the end. */
const runOnStage = async (stage: Stage, keyOwner: string, words: readonly string[]) => {
  const opened = await openStage(stage);
  const keys = opened.keys();
  const baseAddress = opened.outputOf('BaseAddress');
  const { apiKey, record } = await change(() =>
    keys.issue({ owner: keyOwner, lifetimeMs: ms('1h') }),
  );
  await withCleanup(
    () => keys.revoke(record.keyId),
    async () => {
      const { account, region } = opened;
      const tested = `${stage.name}, account ${account}, region ${region}, at ${baseAddress}`;
      runVitest(tested, words, { BASE_URL: baseAddress, API_KEY: apiKey });
    },
  );
};

/**
 * Runs Vitest against the stage of the options, against BASE_URL, or against the bundles on this machine.
 * Throws if the options and variables name none of them, or two.
 */
const test = async (name: string, words: readonly string[], { stage, emulator }: TestOptions) => {
  const { BASE_URL, API_KEY } = process.env;
  if (emulator && !stage) throw new Error('--emulator needs --stage');
  if (BASE_URL && stage)
    throw new Error(`BASE_URL is set to ${BASE_URL}: leave out --stage, or unset BASE_URL`);
  if (BASE_URL && !API_KEY)
    throw new Error(`BASE_URL is set to ${BASE_URL}: set API_KEY to a key of that stage too`);
  if (!stage && BASE_URL === '')
    throw new Error('BASE_URL is empty: set it to a base address, or unset it');
  if (!stage) return runVitest(BASE_URL ?? 'the bundles on this machine', words);
  if (!emulator) return runOnStage(stage, name, words);
  console.log('LEFT OUT: the header x-amz-apigw-id, which MiniStack does not send.');
  process.env['LEFT_OUT_HEADERS'] = 'x-amz-apigw-id';
  return runOnStage(stage, name, words);
};

const program = new Command('npm run').helpCommand(false);

const command = (name: string, description: string, permanent: readonly Stage[]) =>
  withEmulator(program.command(name))
    .description(description)
    .usage('-- [options]')
    .addOption(
      stageOption('the stage to test, with a key that this issues and revokes', permanent),
    );

command(
  'acceptance',
  'Runs the acceptance tests against the bundles on this machine, BASE_URL with API_KEY, or a stage. They add about 100 pets and remove none, so in production use npm run smoke.',
  stages.filter((stage) => !isProduction(stage)),
)
  .usage('-- [options] [words...]')
  .argument('[words...]', 'parts of the names of the test files to run, and options of Vitest')
  .allowUnknownOption()
  .action(async (words: string[], options: TestOptions) => {
    const { BASE_URL, API_KEY } = process.env;
    if (BASE_URL && API_KEY?.startsWith('pets_live_'))
      throw new Error(
        'API_KEY is a key of production, where these tests would leave 100 pets: use npm run smoke',
      );
    await test('acceptance', ['--exclude', 'test/!(acceptance)/**', ...words], options);
  });

command(
  'smoke',
  'Runs the smoke tests against BASE_URL with API_KEY, or a stage. They change nothing.',
  stages,
).action(async (options: TestOptions) => {
  if (!options.stage && !process.env['BASE_URL'])
    throw new Error('Name a stage with --stage, or set BASE_URL and API_KEY');
  await test('smoke', ['test/acceptance/smoke.test.ts'], options);
});

await runProgram(program);

import { execFileSync } from 'node:child_process';
import { program } from 'commander';
import { fail } from '../message-of.ts';
import { stackName } from '../settings/names.ts';
import type { Stage } from '../settings/stages.ts';
import { withStage } from './stage-option.ts';

interface DestroyOptions {
  readonly stage: Stage;
  readonly emulator?: true;
  readonly force?: true;
}

const run = ({ stage, emulator, force }: DestroyOptions) => {
  const contexts = [`stage=${stage.name}`, ...(emulator ? ['emulator=true'] : [])];
  const words = contexts.flatMap((context) => ['--context', context]);
  const env = { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' };
  const command = ['destroy', stackName(stage), ...words, ...(force ? ['--force'] : [])];
  execFileSync('cdk', command, { stdio: 'inherit', env });
};

await withStage(program, 'the stage to remove', [])
  .name('npm run destroy --')
  .description('Removes a stage of your own with its pets, keys and logs.')
  .option('--force', 'do not ask first')
  .action(async (options: DestroyOptions) => run(options))
  .parseAsync()
  .catch(fail);

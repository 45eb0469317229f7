import { program } from 'commander';
import { emulated, type Stage } from '../settings/stages.ts';
import { withStage } from './stage-option.ts';
import { printStatus } from './stage-status.ts';
import { fail } from './terminal.ts';

await withStage(program, 'the stage')
  .name('npm run status --')
  .description('Prints the status, the address, the commits and the logs of a deployed stage.')
  .action(({ stage, emulator }: { stage: Stage; emulator?: true }) =>
    printStatus(emulator ? emulated(stage) : stage),
  )
  .parseAsync()
  .catch(fail);

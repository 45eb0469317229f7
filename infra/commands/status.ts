import { program } from 'commander';
import type { Stage } from '../settings/stages.ts';
import { printStatus } from './shared/print-status.ts';
import { runProgram } from './shared/run-program.ts';
import { withStage } from './shared/stage-option.ts';

withStage(program, 'the stage')
  .name('npm run status --')
  .description(
    'Prints the status, the address, the commits, the tables and the logs of a deployed stage.',
  )
  .action(({ stage }: { stage: Stage }) => printStatus(stage));
await runProgram(program);

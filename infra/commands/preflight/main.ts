import { program } from 'commander';
import { printable } from '../../printable.ts';
import { placeholdersIn } from '../../settings/placeholders.ts';
import { emulated, type Stage } from '../../settings/stages.ts';
import { withStage } from '../stage-option.ts';
import { preflight } from './preflight.ts';

withStage(program, 'the stage to deploy')
  .name('npm run preflight --')
  .description('Checks whether a stage can be deployed. Prints a line for each problem.')
  .action(async (options: { stage: Stage; emulator?: true }) => {
    const stage = options.emulator ? emulated(options.stage) : options.stage;
    const problems = [...placeholdersIn(stage), ...(await preflight(stage))];
    for (const problem of problems) console.error(printable(problem));
    if (problems.length > 0) process.exitCode = 1;
    else console.log(`${stage.name} is ready to deploy.`);
  });

await program.parseAsync();

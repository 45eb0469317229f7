import { Option, program } from 'commander';
import { placeholdersIn } from '../../placeholders.ts';
import { emulated, type Stage, stages } from '../../stages.ts';
import { preflight } from './preflight.ts';

program
  .name('npm run preflight --')
  .description('Checks whether a stage can be deployed. Prints a line for each problem.')
  .addOption(
    new Option('--stage <stage>', 'the stage to deploy')
      .choices(Object.keys(stages))
      .makeOptionMandatory(),
  )
  .option('--emulator', 'an AWS-compatible emulator, in the account of the emulator')
  .action(async (options: { stage: Stage['name']; emulator?: true }) => {
    const stage = options.emulator ? emulated(stages[options.stage]) : stages[options.stage];
    const problems = [...placeholdersIn(stage), ...(await preflight(stage))];
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
    else console.log(`${stage.name} is ready to deploy.`);
  });

await program.parseAsync();

import { program } from 'commander';
import { printable } from '../../printable.ts';
import { placeholdersIn } from '../../settings/placeholders.ts';
import { emulated, type Stage } from '../../settings/stages.ts';
import { withStage } from '../stage-option.ts';
import { parallelRequestsFor } from './parallel-requests.ts';
import { concurrencyQuota, preflight } from './preflight.ts';

const capacityOf = async (stage: Stage): Promise<string> => {
  const quota = await concurrencyQuota(stage);
  return `Lambda may run ${quota} instances at once: PARALLEL_REQUESTS=${parallelRequestsFor(quota)} is right for the acceptance tests.`;
};

withStage(program, 'the stage to deploy')
  .name('npm run preflight --')
  .description('Checks whether a stage can be deployed. Prints a line for each problem.')
  .action(async (options: { stage: Stage; emulator?: true }) => {
    const stage = options.emulator ? emulated(options.stage) : options.stage;
    const problems = [...placeholdersIn(stage), ...(await preflight(stage))];
    for (const problem of problems) console.error(printable(problem));
    if (problems.length > 0) process.exitCode = 1;
    else console.log(`${stage.name} is ready to deploy. ${await capacityOf(stage)}`);
  });

await program.parseAsync();

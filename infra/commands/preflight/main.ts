import { program } from 'commander';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { emulated, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { openAccount } from '../deployed-stack.ts';
import { withStage } from '../stage-option.ts';
import { fail, printable } from '../terminal.ts';
import { preflight } from './preflight.ts';

const run = async (options: { stage: Stage; emulator?: true }) => {
  const stage = options.emulator ? emulated(options.stage) : options.stage;
  const account = stage.environment?.account;
  const sharing = stages.filter(({ environment }) => environment?.account === account);
  if (account !== undefined && sharing.length > 1 && sharing.some(isProduction))
    console.error(
      `warning: ${sharing.map(({ name }) => name).join(' and ')} share the account ${account}: a release of each can change every stack of the account. See "GitHub" in infra/first-deployment.md.`,
    );
  const findings = await preflight(stage, await openAccount(stage));
  const problems = [...placeholdersIn(stage), ...findings.map(({ problem }) => problem)];
  for (const problem of problems) console.error(printable(problem));
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${stage.name} is ready to deploy.`);
};

await withStage(program, 'the stage to deploy')
  .name('npm run preflight --')
  .description('Checks whether a stage can be deployed. Prints a line for each problem.')
  .action(run)
  .parseAsync()
  .catch(fail);

import { program } from 'commander';
import { printable } from '../../printable.ts';
import { placeholdersIn } from '../../settings/stage-problems.ts';
import { emulated, isProduction, type Stage, stages } from '../../settings/stages.ts';
import { withStage } from '../stage-option.ts';
import { preflight } from './preflight.ts';

/** Returns a warning if one of the stages that share the account of a stage is in production. */
const sharedAccount = (stage: Stage): string | undefined => {
  const account = stage.environment?.account;
  const sharing = stages.filter((each) => each.environment?.account === account);
  const others = sharing.filter(({ name }) => name !== stage.name);
  if (account === undefined || others.length === 0 || ![stage, ...sharing].some(isProduction))
    return undefined;
  const names = others.map(({ name }) => name).join(', ');
  return `warning: ${stage.name} shares the account ${account} with ${names}: a release of each can change every stack of the account. See "GitHub" in infra/README.md.`;
};

withStage(program, 'the stage to deploy')
  .name('npm run preflight --')
  .description('Checks whether a stage can be deployed. Prints a line for each problem.')
  .action(async (options: { stage: Stage; emulator?: true }) => {
    const stage = options.emulator ? emulated(options.stage) : options.stage;
    const warning = sharedAccount(stage);
    if (warning !== undefined) console.error(warning);
    const problems = [...placeholdersIn(stage), ...(await preflight(stage))];
    for (const problem of problems) console.error(printable(problem));
    if (problems.length > 0) process.exitCode = 1;
    else console.log(`${stage.name} is ready to deploy.`);
  });

await program.parseAsync();

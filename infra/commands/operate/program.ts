import { Argument, Command, InvalidArgumentError } from 'commander';
import type { FunctionName, OperationName } from '../../../lib/contract/routes.ts';
import { operations } from '../../../lib/operations/operations.ts';
import { functionNames } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { type TableKind, tables } from '../../settings/tables.ts';
import { type DeployedStage, openStage } from '../open-stage.ts';
import { type Plan, perform } from '../plan.ts';
import { withStage } from '../stage-option.ts';
import type { Ask } from '../terminal.ts';
import { copyBack } from './copy-back.ts';
import { removeItem } from './remove-item.ts';
import { reserve } from './reserve.ts';
import { restore, restoreCopy } from './restore.ts';
import { throttle } from './throttle.ts';

interface OperateOptions {
  readonly stage: Stage;
  readonly yes?: true;
}

/** Makes a converter that accepts a text of this form. */
const text = (form: RegExp, what: string) => (given: string) => {
  if (form.test(given)) return given;
  throw new InvalidArgumentError(`It must be ${what}.`);
};

const number = (given: string) => Number(text(/^\d{1,7}$/, 'a number from 0 on')(given));

const pastTime = (given: string) => {
  const at = new Date(given);
  // JavaScript takes 31 February as 3 March.
  const isTime = !Number.isNaN(at.getTime()) && at.toISOString() === given.replace('Z', '.000Z');
  if (isTime && at.getTime() < Date.now()) return at;
  throw new InvalidArgumentError('It must be a time in the past, like 2026-01-31T03:00:00Z.');
};

/**
 * The program of `npm run operate`. `ask` asks the operator to type something; it is absent when there is no
 * terminal.
 */
export const operateProgram = (ask: Ask | undefined): Command => {
  const program = new Command('npm run operate --').description(
    'Changes a deployed stage. Prints what clients will notice and what it does, and waits until you type the name of the stage.',
  );
  const command = (name: string, description: string) =>
    withStage(program.command(name), 'the stage to change')
      .description(description)
      .option('--yes', 'do not ask first');

  /** Opens the stage of a command, and does what is planned for it if the operator agrees. */
  const operate = async (
    { stage, yes }: OperateOptions,
    plan: (opened: DeployedStage) => Promise<Plan>,
  ) => {
    const opened = await openStage(stage);
    await perform(opened, await plan(opened), { yes, ask });
  };

  const table = () => new Argument('<table>', 'its table').choices(Object.keys(tables));

  command('close', 'stop all requests: clients get 503').action((options: OperateOptions) =>
    operate(options, async (opened) => ({
      notices: ['Clients get 503 for every request until you open the service.'],
      steps: await reserve(opened, 'all', 0),
    })),
  );
  command('open', 'let requests through again').action((options: OperateOptions) =>
    operate(options, async (opened) => ({
      notices: ['Clients of a closed service are served again.'],
      steps: await reserve(opened, 'all'),
    })),
  );
  command('reserve', 'reserve concurrency for a function, as stages.ts declares or a number')
    .addArgument(new Argument('<function>', 'an operation, or fallback').choices(functionNames))
    .argument('[number]', 'the concurrency', number)
    .action((name: FunctionName, concurrency: number | undefined, options: OperateOptions) =>
      operate(options, async (opened) => ({
        notices: [`Clients get 503 for requests to ${name} that exceed its concurrency.`],
        steps: await reserve(opened, name, concurrency),
      })),
    );
  command('throttle', 'limit an operation, as declared or to a rate and a burst')
    .addArgument(
      new Argument('<operation>', 'its name').choices(operations.map(({ name }) => name)),
    )
    .argument('[rate]', 'requests a second', number)
    .argument('[burst]', 'requests at once', number)
    .action((name: OperationName, ratePerSecond, burst, options: OperateOptions) => {
      if (ratePerSecond !== undefined && burst === undefined) throw new Error('Give a burst too');
      const limits = burst === undefined ? undefined : { ratePerSecond, burst };
      return operate(options, (opened) => throttle(opened, name, limits));
    });
  command('remove-item', 'remove a corrupt item')
    .addArgument(table())
    .argument('<id>', 'the id of the pet or the key', text(/^[\w.+-]{1,64}$/, 'an id'))
    .action((kind: TableKind, id: string, options: OperateOptions) =>
      operate(options, (opened) => removeItem(opened, kind, id)),
    );
  command('restore-copy', 'copy a table as of a time into a new table')
    .addArgument(table())
    .argument('<time>', 'a time in the past, in UTC, such as 2026-01-31T03:00:00Z', pastTime)
    .action((kind: TableKind, at: Date, options: OperateOptions) =>
      operate(options, (opened) => restoreCopy(opened, kind, at)),
    );
  command('copy-back', 'write what a table lacks, or has with other values, from its copy')
    .addArgument(table())
    .argument('<copy>', 'the name of the copy', text(/^[\w.-]{3,255}$/, 'the name of a table'))
    .action((kind: TableKind, copy: string, options: OperateOptions) =>
      operate(options, (opened) => copyBack(opened, kind, copy)),
    );
  command('restore', 'restore a table that is gone, or the settings that it lacks')
    .addArgument(table())
    .option('--backup <arn>', 'the backup, if there are several')
    .action((kind: TableKind, options: OperateOptions & { backup?: string }) =>
      operate(options, (opened) => restore(opened, kind, options.backup)),
    );
  return program;
};

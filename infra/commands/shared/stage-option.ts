import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  emulated,
  isPersonal,
  isProduction,
  type Stage,
  stageNamed,
  stages,
} from '../../settings/stages.ts';
import { messageOf } from './terminal.ts';

const stageOf = (name: string): Stage => {
  try {
    return stageNamed(name);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
};

const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

/**
 * The option `--stage <stage>` of a command. Its value is a `Stage`: a personal one, or a permanent one that
 * the command accepts, by default each. It refuses what `stageNamed` refuses.
 */
export const stageOption = (description: string, permanent: readonly Stage[] = stages): Option => {
  const accepted = oneOf.format([...permanent.map(({ name }) => name), 'a personal stage']);
  return new Option('--stage <stage>', `${description}: ${accepted}`).argParser((name) => {
    const stage = permanent.find((each) => each.name === name) ?? stageOf(name);
    if (isPersonal(stage) || permanent.includes(stage)) return stage;
    throw new InvalidArgumentError(`It must be ${accepted}.`);
  });
};

/** Matches the hosts of this machine, as `URL` writes them. */
const thisMachine = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Adds `--emulator` to a command, which then gets its stage as it is on an emulator. It refuses to run
 * without the address of an emulator, or with an address of another machine: that may be AWS, and it would
 * change a stage there, because an emulated stage has no account with which credentials are compared.
 */
export const withEmulator = (command: Command): Command =>
  command
    .option('--emulator', 'the emulator MiniStack instead of AWS, in the account of the emulator')
    .on('option:emulator', () => {
      const refuse = (name: string) =>
        command.error(
          `error: --emulator needs the URL of an emulator on this machine in ${name}: with localhost, a name that ends with .localhost, 127.x.x.x or [::1]`,
        );
      if (!process.env['AWS_ENDPOINT_URL']) refuse('AWS_ENDPOINT_URL');
      for (const [name, url] of Object.entries(process.env)) {
        if (!name.startsWith('AWS_ENDPOINT_URL') || !url) continue;
        if (!thisMachine.test(URL.parse(url)?.hostname ?? '')) refuse(name);
      }
      // Also for the CDK. A profile may ignore the addresses, too.
      process.env['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'] = 'false';
    })
    .hook('preAction', () => {
      const { stage, emulator } = command.opts<{ stage?: Stage; emulator?: true }>();
      if (!stage || !emulator) return;
      if (isProduction(stage))
        command.error(
          `error: An emulator lacks what ${stage.name} must have: name another stage, such as staging`,
        );
      command.setOptionValue('stage', emulated(stage));
    });

/** Returns the words of a command that name a stage, such as `--stage dev-alice --emulator`. */
export const stageWords = ({ name, isEmulated }: Stage): string =>
  `--stage ${name}${isEmulated ? ' --emulator' : ''}`;

/** Adds to a command about a deployed stage `--stage`, which must be given, and `--emulator`. */
export const withStage = (
  command: Command,
  description: string,
  permanent?: readonly Stage[],
): Command =>
  withEmulator(command.addOption(stageOption(description, permanent).makeOptionMandatory()));

import { type Command, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../message-of.ts';
import { type Stage, stageNamed, stages } from '../settings/stages.ts';

const parse = (name: string): Stage => {
  try {
    return stageNamed(name);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
};

/**
 * The option `--stage <stage>` of a command. Its value is a `Stage`; it refuses what `stageNamed` refuses.
 */
export const stageOption = (description: string): Option => {
  const names = stages.map(({ name }) => name).join(', ');
  return new Option('--stage <stage>', `${description}: ${names}, or one of your own`).argParser(
    parse,
  );
};

/** Adds to a command about a deployed stage `--stage`, which must be given, and `--emulator`. */
export const withStage = (command: Command, description: string): Command =>
  command
    .addOption(stageOption(description).makeOptionMandatory())
    .option('--emulator', 'an AWS-compatible emulator, in the account of the emulator');

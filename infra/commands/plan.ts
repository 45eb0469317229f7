import type { Client, Command, MetadataBearer } from '@smithy/types';
import { toJson } from './printed.ts';
import { waitFor } from './wait-for.ts';

/** What a command will do, and what clients and operators will notice. */
export interface Plan {
  readonly notices: readonly string[];
  readonly steps: readonly Step[];
}

/** Something that a command does. It is described before it is done. */
export interface Step {
  readonly description: string;
  readonly run: () => Promise<unknown>;
}

/**
 * Returns a step that sends a command of the SDK, described as it is sent. It repeats a call of DynamoDB that is
 * refused for a while, for up to an hour.
 */
export const call = <
  Inputs extends object,
  Outputs extends MetadataBearer,
  Config,
  Input extends Inputs,
  Output extends Outputs,
>(
  client: Client<Inputs, Outputs, Config>,
  command: Command<Inputs, Input, Outputs, Output, Config>,
): Step => ({
  description: `${command.constructor.name.replace(/Command$/, '')} ${toJson(command.input)}`,
  run: () => waitFor('1h', () => client.send(command)),
});

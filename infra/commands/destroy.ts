import { DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { DeleteParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import { program } from 'commander';
import { probeKeyParameter, releaseParameter, stackName } from '../settings/names.ts';
import { emulated, type Stage } from '../settings/stages.ts';
import { openStack } from './deployed-stack.ts';
import { withStage } from './stage-option.ts';
import { announce, askInTerminal, confirm, fail } from './terminal.ts';

interface DestroyOptions {
  readonly stage: Stage;
  readonly emulator?: true;
  readonly yes?: true;
}

const run = async ({ stage: { name }, stage, emulator, yes }: DestroyOptions) => {
  const opened = await openStack(emulator ? emulated(stage) : stage);
  const { account, region, config, cloudformation: client } = opened;
  const StackName = stackName(stage);
  const Names = [probeKeyParameter(stage), releaseParameter(stage)];
  const where = { stage: name, account: `${account}`, region };
  const steps = [
    `Delete ${Names.join(' and ')} in SSM, if they exist`,
    `Delete the stack ${StackName}, with all pets, API keys and logs`,
  ];
  announce(where, steps, 'Clients can no longer reach the stage.');
  if (!yes) await confirm(askInTerminal, name, ': add --yes');
  // The stack is the last, so that this finds the stage again after an interruption.
  await new SSMClient(config).send(new DeleteParametersCommand({ Names }));
  await client.send(new DeleteStackCommand({ StackName }));
  console.log('CloudFormation deletes the stack, which takes minutes.');
  await waitUntilStackDeleteComplete({ client, maxWaitTime: 3_600 }, { StackName }).catch(
    (cause: unknown) => {
      throw new Error(`${StackName} is not deleted: its events say why`, { cause });
    },
  );
  console.log(
    `Nothing of ${name} is left. The account keeps what other stages share: the stacks CDKToolkit and AnimalStore-account, which cost next to nothing.`,
  );
};

await withStage(program, 'the stage to remove', [])
  .name('npm run destroy --')
  .description('Removes a personal stage with its pets, keys and logs.')
  .option('--yes', 'do not ask first')
  .action(run)
  .parseAsync()
  .catch(fail);

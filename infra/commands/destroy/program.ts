import { DeleteStackCommand } from '@aws-sdk/client-cloudformation';
import {
  BackupNotFoundException,
  DeleteBackupCommand,
  DeleteTableCommand,
  paginateListTables,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { DeleteParametersCommand } from '@aws-sdk/client-ssm';
import { Command } from 'commander';
import { probeKeyParameter, stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { backupsOf, isOfTable } from '../backups.ts';
import { deployedResources, findStack } from '../deployed-stack.ts';
import type { OpenedAccount } from '../open-account.ts';
import { openStage } from '../open-stage.ts';
import { call, perform, type Step } from '../plan.ts';
import { withStage } from '../stage-option.ts';
import type { Ask } from '../terminal.ts';
import { NotYet, waitFor } from '../wait-for.ts';

interface DestroyOptions {
  readonly stage: Stage;
  readonly yes?: true;
}

const destroy = async ({ stage, yes }: DestroyOptions, ask: Ask | undefined) => {
  const opened = await openStage(stage);
  const client = opened.clients.cloudformation();
  const StackName = stackName(stage);
  const Name = probeKeyParameter(stage);
  const copies = await deleteCopies(stage, opened);
  const steps: readonly Step[] = [
    {
      description: `Delete ${Name} in SSM, if it exists`,
      run: () => opened.clients.ssm().send(new DeleteParametersCommand({ Names: [Name] })),
    },
    ...copies.steps,
    // The stack is the last, so that this finds the stage again after an interruption.
    {
      description: `Delete the stack ${StackName}, with all pets, API keys and logs`,
      run: async () => {
        await client.send(new DeleteStackCommand({ StackName }));
        await waitFor('1h', async () => {
          const stack = await findStack(stage, opened);
          if (!stack) return;
          if (stack.status === 'DELETE_IN_PROGRESS')
            throw new NotYet(`${StackName} is being deleted, which takes minutes`);
          throw new Error(
            `${StackName} is ${stack.status}, and not deleted: its events say why. Run the same command again.`,
          );
        });
      },
    },
  ];
  const notices = ['Clients can no longer reach the stage.'];
  await perform(opened, { notices, steps }, { yes, ask });
  for (const { BackupArn } of copies.kept)
    console.log(`${BackupArn} stays: DynamoDB deletes it after 35 days`);
  console.log(
    `Nothing ${copies.kept.length > 0 ? 'else ' : ''}of ${stage.name} is left. The account keeps what other stages share: the stacks CDKToolkit and AnimalStore-account, which cost next to nothing.`,
  );
};

/** Returns a step that is also done if its table or backup is already gone. */
const unlessGone = ({ description, run }: Step): Step => ({
  description,
  run: () =>
    run().catch((error: unknown) => {
      const isGone =
        error instanceof ResourceNotFoundException || error instanceof BackupNotFoundException;
      if (!isGone) throw error;
    }),
});

/**
 * Plans to delete the copies of a stage's tables, and the backups that users made of both, which are not in the
 * stack. Also returns the other backups, those of type SYSTEM, which DynamoDB deletes after 35 days, without a charge.
 */
const deleteCopies = async (stage: Stage, account: OpenedAccount) => {
  const client = account.clients.dynamodb();
  const resources = await deployedResources(stage, account, 'AWS::DynamoDB::Table');
  const tables = resources.map(({ PhysicalResourceId }) => `${PhysicalResourceId}`);
  const isOfStage = (name = '') => tables.some((table) => isOfTable(name, table));
  const pages = await Array.fromAsync(paginateListTables({ client }, {}));
  const copies = pages
    .flatMap(({ TableNames = [] }) => TableNames)
    .filter((name) => isOfStage(name) && !tables.includes(name));
  const backups = (await backupsOf(client)).filter(({ TableName }) => isOfStage(TableName));
  const deleted = backups.filter(({ BackupType }) => BackupType === 'USER');
  return {
    steps: [
      ...copies.map((TableName) => call(client, new DeleteTableCommand({ TableName }))),
      ...deleted.map(({ BackupArn }) => call(client, new DeleteBackupCommand({ BackupArn }))),
    ].map(unlessGone),
    kept: backups.filter((backup) => !deleted.includes(backup)),
  };
};

/**
 * The program of `npm run destroy`. `ask` asks the operator to type something; it is absent when there is no
 * terminal.
 */
export const destroyProgram = (ask: Ask | undefined): Command =>
  withStage(new Command('npm run destroy --'), 'the stage to remove', [])
    .description('Removes a personal stage with its pets, keys and logs.')
    .option('--yes', 'do not ask first')
    .action((options: DestroyOptions) => destroy(options, ask));

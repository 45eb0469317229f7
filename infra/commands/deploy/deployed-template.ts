import { GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { notOfAws, type OpenedAccount } from '../shared/open-account.ts';
import { messageOf } from '../shared/terminal.ts';
import { parseTemplate, type Template } from './losses.ts';

interface Deployed {
  readonly stage: Stage;
  readonly account: OpenedAccount;
  /** Whether the operator accepts what is lost. */
  readonly destructive?: true;
}

/**
 * Returns the template of the deployed stack of a stage. Throws if it can't be read, or if it can't be
 * compared: then it counts as empty when the operator accepts what is lost.
 */
export const readDeployedTemplate = async (deployed: Deployed): Promise<Template> => {
  const { stage, account, destructive } = deployed;
  const StackName = stackName(stage);
  const command = new GetTemplateCommand({ StackName });
  const response = await account.clients.cloudformation.send(command).catch((cause: unknown) => {
    if (!(cause instanceof Error) || !cause.name.startsWith('AccessDenied')) throw cause;
    throw new Error(
      `${messageOf(cause)}. If this is a workflow, deploy its role again: see "GitHub" in infra/first-deployment.md.`,
      { cause },
    );
  });
  if (!response.TemplateBody) throw notOfAws('CloudFormation GetTemplate');
  try {
    return parseTemplate(response.TemplateBody);
  } catch (cause) {
    if (destructive) return parseTemplate('{ "Resources": {} }');
    throw new Error(
      `The template of ${StackName} can't be compared, because something else deployed it: ${messageOf(cause)}. Add --destructive, and see in the diff what would be lost, before you agree.`,
      { cause },
    );
  }
};

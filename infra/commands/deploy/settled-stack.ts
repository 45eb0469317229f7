import { stackName } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { findStack } from '../shared/deployed-stack.ts';
import type { OpenedAccount } from '../shared/open-account.ts';

/** The states of a stack that was never complete: the CDK creates it, or creates it again. */
const neverComplete: ReadonlySet<string> = new Set([
  'REVIEW_IN_PROGRESS',
  'ROLLBACK_COMPLETE',
  'ROLLBACK_FAILED',
]);

/**
 * Finds the stack of a stage before a deployment. Returns undefined before the first one that succeeds.
 * Throws while the stack is being changed, because it may yet be rolled back, and if its rollback has failed.
 */
export const findSettledStack = async (stage: Stage, account: OpenedAccount) => {
  const StackName = stackName(stage);
  const stack = await findStack(stage, account);
  if (!stack || neverComplete.has(stack.status)) return undefined;
  if (stack.status === 'DELETE_IN_PROGRESS')
    throw new Error(
      `${StackName} is being destroyed: wait until it is gone, and run the same command again to create it.`,
    );
  if (stack.status.endsWith('_IN_PROGRESS'))
    throw new Error(
      `${StackName} is ${stack.status}. Wait for its end, or stop its deployments in CodeDeploy with a rollback. Before they begin, run: aws cloudformation cancel-update-stack --stack-name ${StackName} --region ${account.region}`,
    );
  if (stack.status === 'UPDATE_ROLLBACK_FAILED')
    throw new Error(
      `${StackName} is ${stack.status}, so it may have parts of two releases. See "canary-errors" in infra/runbook.md.`,
    );
  return stack;
};

export type SettledStack = NonNullable<Awaited<ReturnType<typeof findSettledStack>>>;

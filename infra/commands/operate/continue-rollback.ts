import { ContinueUpdateRollbackCommand } from '@aws-sdk/client-cloudformation';
import { stackName } from '../../settings/names.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';

/** Plans to continue the failed rollback of the stack. Throws for a stack in another state. */
export const continueRollback = ({ cloudformation, stage, status }: OperatedStage): Step[] => {
  const StackName = stackName(stage);
  if (status !== 'UPDATE_ROLLBACK_FAILED')
    throw new Error(`${StackName} is ${status}, and not UPDATE_ROLLBACK_FAILED`);
  return [call(cloudformation, new ContinueUpdateRollbackCommand({ StackName }))];
};

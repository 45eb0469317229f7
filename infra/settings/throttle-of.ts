import type { OperationName } from '../../lib/contract/routes.ts';
import type { Throttle } from '../../lib/operations/operation-details.ts';
import { detailsOf } from '../../lib/operations/operations.ts';
import { isProduction, type Stage } from './stages.ts';

/** The throttle of each method of an operation in a stage. */
export const throttleOf = (stage: Stage, name: OperationName): Throttle => {
  const { throttle } = detailsOf(name);
  return throttle?.[isProduction(stage) ? 'production' : 'testing'] ?? stage.throttle;
};

import { GetStageCommand, UpdateStageCommand } from '@aws-sdk/client-api-gateway';
import { methodsOf, type OperationName, routes } from '../../../lib/contract/routes.ts';
import type { Throttle } from '../../../lib/operations/operation-details.ts';
import { throttleOf } from '../../settings/throttle-of.ts';
import type { OperatedStage } from './operated-stage.ts';
import { call, type Step } from './plan.ts';

/** Plans the throttle of an operation's methods: by default the declared one. */
export const throttle = async (
  { apiGateway, idOf, stage }: OperatedStage,
  name: OperationName,
  wanted: Throttle = throttleOf(stage, name),
): Promise<Step[]> => {
  const api = { restApiId: idOf('ApiGateway::RestApi'), stageName: idOf('ApiGateway::Stage') };
  const { methodSettings = {} } = await apiGateway.send(new GetStageCommand(api));
  const limits = { rateLimit: wanted.ratePerSecond, burstLimit: wanted.burst };
  const changed = methodsOf(routes[name]).filter((method) => {
    // As in a JSON pointer, `~1` is a slash of the path.
    const [, present] =
      Object.entries(methodSettings).find(
        ([key]) => key.replaceAll('~1', '/') === `${routes[name].path}/${method}`,
      ) ?? [];
    return (
      present?.throttlingRateLimit !== limits.rateLimit ||
      present.throttlingBurstLimit !== limits.burstLimit
    );
  });
  if (changed.length === 0) return [];
  const path = routes[name].path.replaceAll('/', '~1');
  const patchOperations = changed.flatMap((method) =>
    Object.entries(limits).map(([limit, value]) => ({
      op: 'replace' as const,
      path: `/${path}/${method}/throttling/${limit}`,
      value: `${value}`,
    })),
  );
  return [call(apiGateway, new UpdateStageCommand({ ...api, patchOperations }))];
};

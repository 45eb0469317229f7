import { UpdateStageCommand } from '@aws-sdk/client-api-gateway';
import { methodsOf, type OperationName, routes } from '../../../lib/contract/routes.ts';
import type { Throttle } from '../../../lib/operations/operation-details.ts';
import { throttleOf } from '../../settings/throttle-of.ts';
import type { DeployedStage } from '../open-stage.ts';
import { call, type Plan } from '../plan.ts';
import { deployedApi } from './deployed-api.ts';

/** Plans the throttle of an operation's methods: by default the declared one. */
export const throttle = async (
  opened: DeployedStage,
  name: OperationName,
  { ratePerSecond, burst }: Throttle = throttleOf(opened.stage, name),
): Promise<Plan> => {
  const { idOf } = await deployedApi(opened);
  const limits = { rateLimit: ratePerSecond, burstLimit: burst };
  // As in a JSON pointer, `~1` is a slash of the path.
  const path = routes[name].path.replaceAll('/', '~1');
  const patchOperations = methodsOf(routes[name]).flatMap((method) =>
    Object.entries(limits).map(([limit, value]) => ({
      op: 'replace' as const,
      path: `/${path}/${method}/throttling/${limit}`,
      value: `${value}`,
    })),
  );
  const update = new UpdateStageCommand({
    restApiId: idOf('ApiGateway::RestApi'),
    stageName: idOf('ApiGateway::Stage'),
    patchOperations,
  });
  return {
    notices: [
      `Clients get 429 for more requests to ${name} than ${ratePerSecond} a second or ${burst} at once.`,
    ],
    steps: [call(opened.clients.apiGateway(), update)],
  };
};

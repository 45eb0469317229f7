import { UpdateStageCommand } from '@aws-sdk/client-api-gateway';
import { methodsOf, type OperationName, routes } from '../../../lib/contract/routes.ts';
import type { Throttle } from '../../../lib/operations/operation-details.ts';
import { throttleOf } from '../../settings/throttle-of.ts';
import { call, type Plan } from '../plan.ts';
import type { OperatedStage } from './operated-stage.ts';

/** Plans the throttle of an operation's methods: by default the declared one. */
export const throttle = (
  { apiGateway, idOf, stage }: OperatedStage,
  name: OperationName,
  { ratePerSecond, burst }: Throttle = throttleOf(stage, name),
): Plan => {
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
    steps: [call(apiGateway, update)],
  };
};

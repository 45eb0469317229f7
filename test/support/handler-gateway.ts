import { type ProxyFunction, startGateway } from '../../infra/local/gateway/gateway.ts';
import type { StackDefinition } from '../../infra/local/stack-definition.ts';
import type { Handlers } from './handlers.ts';
import { lambdaContext } from './proxy-event.ts';

/** Starts a local gateway with the routes of the stack in front of handlers in this process. */
export const startHandlerGateway = async (
  { api, functions }: Pick<StackDefinition, 'api' | 'functions'>,
  handlers: Handlers,
  port = 0,
) => {
  const handlerOfBundle = new Map([
    ['list-pets', handlers.listPets],
    ['create-pet', handlers.createPet],
    ['get-pet', handlers.getPet],
    ['unrouted', handlers.unrouted],
  ]);
  const functionOf = (bundleName: string): ProxyFunction => ({
    invoke: async ({ requestId, event }) => {
      const handler = handlerOfBundle.get(bundleName);
      if (!handler) throw new Error(`There is no handler of the name ${bundleName}`);
      return JSON.stringify(await handler(event, lambdaContext(requestId)));
    },
  });
  const gateway = await startGateway({ port, log: console.log });
  gateway.deploy({
    api,
    functions: new Map([...functions].map(([id, { bundleName }]) => [id, functionOf(bundleName)])),
  });
  return { baseAddress: `${gateway.origin}/${api.stageName}`, stop: gateway.stop };
};

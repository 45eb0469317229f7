import { type ProxyFunction, startGateway } from '../../infra/local/gateway/gateway.ts';
import type { StackDefinition } from '../../infra/local/stack-definition.ts';
import type { Handler, Handlers } from './handlers.ts';
import { lambdaContext } from './proxy-event.ts';

/** Starts a local gateway with the routes of the stack in front of handlers in this process. */
export const startHandlerGateway = async (
  { api, functions }: Pick<StackDefinition, 'api' | 'functions'>,
  { listPets, createPet, getPet, unrouted }: Handlers,
  port = 0,
) => {
  const handlers: Readonly<Record<string, Handler>> = {
    'list-pets': listPets,
    'create-pet': createPet,
    'get-pet': getPet,
    unrouted,
  };
  const functionOf = (bundleName: string): ProxyFunction => {
    const handler = handlers[bundleName];
    if (!handler) throw new Error(`There is no handler of the name ${bundleName}`);
    return {
      invoke: async ({ requestId, event }) =>
        JSON.stringify(await handler(event, lambdaContext(requestId))),
    };
  };
  const gateway = await startGateway({ port, log: console.log });
  gateway.deploy({
    api,
    functions: new Map([...functions].map(([id, { bundleName }]) => [id, functionOf(bundleName)])),
  });
  return { baseAddress: `${gateway.origin}/${api.stageName}`, stop: gateway.stop };
};

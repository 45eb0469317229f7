import { inject } from 'vitest';
import { type ProxyFunction, startGateway } from '../../infra/local/gateway/gateway.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import type { Handlers } from './load-handlers.ts';
import { lambdaContext } from './proxy-event.ts';

/** Starts a local gateway with the routes of the synthesised stack in front of handlers in this process. */
export const startHandlerGateway = async (handlers: Handlers, port = 0) => {
  const { api, functions } = await readStack(`${inject('assembly')}`);
  const { listPets, createPet, getPet, unrouted } = handlers;
  const bundles = { 'list-pets': listPets, 'create-pet': createPet, 'get-pet': getPet, unrouted };
  const handlerOf = new Map(Object.entries(bundles));
  const functionOf = (bundleName: string): ProxyFunction => ({
    invoke: async ({ requestId, event }) =>
      JSON.stringify(await handlerOf.get(bundleName)?.(event, lambdaContext(requestId))),
  });
  const gateway = await startGateway({ port, log: console.log });
  gateway.deploy({
    api,
    functions: new Map([...functions].map(([id, { bundleName }]) => [id, functionOf(bundleName)])),
  });
  return { baseAddress: `${gateway.origin}/${api.stageName}`, stop: gateway.stop };
};

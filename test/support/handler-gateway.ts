import { type ProxyFunction, startGateway } from '../../infra/local/gateway/gateway.ts';
import { readStack } from '../../infra/local/stack-definition.ts';
import { bundleName, functionNames } from '../../infra/settings/names.ts';
import { staging } from '../../infra/settings/stages.ts';
import type { Handlers } from './load-handlers.ts';
import { lambdaContext } from './proxy-event.ts';
import { shared } from './shared.ts';

/** Starts a local gateway with the routes of the synthesised stack in front of handlers in this process. */
export const startHandlerGateway = async (handlers: Handlers) => {
  const { api, functions } = await readStack(shared('assembly'), staging);
  const handlerOf = new Map(functionNames.map((name) => [bundleName(name), handlers[name]]));
  const functionOf = (bundle: string): ProxyFunction => ({
    invoke: async ({ requestId, event }) =>
      JSON.stringify(await handlerOf.get(bundle)?.(event, lambdaContext(requestId))),
  });
  const gateway = await startGateway({ port: 0, log: console.log });
  gateway.deploy({
    api,
    functions: new Map([...functions].map(([id, { bundleName }]) => [id, functionOf(bundleName)])),
  });
  return { baseAddress: `${gateway.origin}/${api.stageName}`, stop: gateway.stop };
};

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { type ProxyFunction, startGateway } from '../../infra/local/gateway/gateway.ts';
import { type Handler, startHandlers } from '../support/handlers.ts';
import { lambdaContext } from '../support/proxy-event.ts';

// The acceptance tests, before handlers in this process: the bundles run in others, which a mutant does not reach.
const service = await startHandlers();
const handlers = new Map<string, Handler>([
  ['list-pets', service.listPets],
  ['create-pet', service.createPet],
  ['get-pet', service.getPet],
  ['unrouted', service.unrouted],
]);

const functionOf = (bundleName: string): ProxyFunction => {
  const handler = handlers.get(bundleName);
  if (!handler) throw new Error(`There is no handler of the name ${bundleName}`);
  return {
    invoke: async ({ requestId, event }) =>
      JSON.stringify(await handler(event, lambdaContext(requestId))),
  };
};

await service.storeApiKey(inject('apiKey'));
const port = Number(new URL(inject('baseAddress')).port);
const gateway = await startGateway({ port, log: console.log });
afterAll(gateway.stop);
gateway.deploy({
  api: inject('restApi'),
  functions: new Map([...inject('bundleNames')].map(([id, name]) => [id, functionOf(name)])),
});

for (const file of globSync(join(import.meta.dirname, '../acceptance/*.test.ts'))) {
  await import(file);
}

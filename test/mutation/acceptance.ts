import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { startHandlerGateway } from '../support/handler-gateway.ts';
import { startHandlers } from '../support/start-handlers.ts';

// The acceptance tests against handlers in this process: the bundles run in others, which
// a mutant does not reach.
const service = await startHandlers();
await service.storeApiKey(inject('apiKey'));
const gateway = await startHandlerGateway(service);
process.env['HANDLERS_ADDRESS'] = gateway.baseAddress;
afterAll(gateway.stop);

for (const file of globSync(join(import.meta.dirname, '../acceptance/*.test.ts'))) {
  await import(file);
}

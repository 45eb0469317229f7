import { functionEnvironment } from '../../infra/settings/function-environment.ts';
import { FaultProxy } from './fault-proxy.ts';
import { senderTo } from './invoke.ts';
import { type Load, loadHandlers } from './load-handlers.ts';
import { discardLog } from './log-lines.ts';
import { shared } from './shared.ts';
import { createTestTables } from './test-tables.ts';

/**
 * Loads the handlers into this process, with tables of their own behind a fault proxy.
 * Call it once in a test file: the modules read their environment when they are loaded.
 */
export const startHandlers = async (load?: Load) => {
  const local = shared('dynamodb');
  const proxy = new FaultProxy(local.dynamodbEndpoint);
  const proxyEndpoint = await proxy.listen();
  const testTables = await createTestTables(local);
  Object.assign(process.env, {
    ...functionEnvironment(proxyEndpoint),
    ...testTables.variables,
    SERVICE_NAME: 'animal-store-test',
    AWS_LAMBDA_FUNCTION_VERSION: '42',
  });
  discardLog();
  const handlers = await loadHandlers(load);
  const apiKey = await testTables.issueApiKey();
  return {
    ...testTables,
    ...handlers,
    proxy,
    proxyEndpoint,
    apiKey,
    send: senderTo(handlers, apiKey),
  };
};

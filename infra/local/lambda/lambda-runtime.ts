import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import type { SentInvocation } from './lambda-function.ts';

const { env } = process;

/** Loads the module that is deployed, which initialises the function. */
const load = async () => {
  const [moduleName, exportName = ''] = `${env['_HANDLER']}`.split('.');
  const file = join(`${env['LAMBDA_TASK_ROOT']}`, `${moduleName}.mjs`);
  const { [exportName]: exported } = await import(pathToFileURL(file).href);
  if (typeof exported === 'function') return exported;
  throw new Error(`${moduleName}.mjs exports no function ${exportName}`);
};

const handler = await load();

const contextOf = ({ requestId, functionArn, deadline }: SentInvocation) => ({
  awsRequestId: requestId,
  callbackWaitsForEmptyEventLoop: true,
  functionName: env['AWS_LAMBDA_FUNCTION_NAME'],
  functionVersion: env['AWS_LAMBDA_FUNCTION_VERSION'],
  invokedFunctionArn: functionArn,
  memoryLimitInMB: env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'],
  logGroupName: env['AWS_LAMBDA_LOG_GROUP_NAME'],
  logStreamName: env['AWS_LAMBDA_LOG_STREAM_NAME'],
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
});

/** The handler's result as JSON, or what it threw: nothing else leaves an execution environment. */
const run = async (invocation: SentInvocation) => {
  try {
    const result: unknown = await handler(JSON.parse(invocation.event), contextOf(invocation));
    return { result: JSON.stringify(result) ?? 'null' };
  } catch (error) {
    return { error: error instanceof Error ? `${error.stack}` : `Thrown: ${String(error)}` };
  }
};

parentPort?.on('message', async (invocation: SentInvocation) => {
  env['_X_AMZN_TRACE_ID'] = invocation.traceId;
  parentPort?.postMessage(await run(invocation));
});
parentPort?.postMessage('ready');

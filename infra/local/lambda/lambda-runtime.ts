import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import * as z from 'zod/mini';

/** What Lambda tells an execution environment about its function. */
const Environment = z.object({
  _HANDLER: z.string(),
  LAMBDA_TASK_ROOT: z.string(),
  AWS_LAMBDA_FUNCTION_NAME: z.string(),
  AWS_LAMBDA_FUNCTION_VERSION: z.string(),
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: z.string(),
  AWS_LAMBDA_LOG_GROUP_NAME: z.string(),
  AWS_LAMBDA_LOG_STREAM_NAME: z.string(),
});

const Invocation = z.object({
  requestId: z.string(),
  traceId: z.string(),
  functionArn: z.string(),
  /** The event as JSON. */
  event: z.string(),
  deadline: z.number(),
});
type Invocation = z.output<typeof Invocation>;

const environment = Environment.parse(process.env);

/** Loads the module that is deployed, which initialises the function. */
const load = async () => {
  const [moduleName = '', exportName = ''] = environment._HANDLER.split('.');
  const { href } = pathToFileURL(join(environment.LAMBDA_TASK_ROOT, `${moduleName}.mjs`));
  const { [exportName]: exported } = z.record(z.string(), z.unknown()).parse({
    ...(await import(href)),
  });
  if (typeof exported !== 'function') {
    throw new Error(`${moduleName}.mjs exports no function ${exportName}`);
  }
  return exported;
};

const handler = await load();

const contextOf = ({ requestId, functionArn, deadline }: Invocation) => ({
  awsRequestId: requestId,
  callbackWaitsForEmptyEventLoop: true,
  functionName: environment.AWS_LAMBDA_FUNCTION_NAME,
  functionVersion: environment.AWS_LAMBDA_FUNCTION_VERSION,
  invokedFunctionArn: functionArn,
  memoryLimitInMB: environment.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  logGroupName: environment.AWS_LAMBDA_LOG_GROUP_NAME,
  logStreamName: environment.AWS_LAMBDA_LOG_STREAM_NAME,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
});

/** The handler's result as JSON, or what it threw: nothing else leaves an execution environment. */
const run = async (invocation: Invocation) => {
  try {
    const result: unknown = await handler(JSON.parse(invocation.event), contextOf(invocation));
    return { result: JSON.stringify(result) ?? 'null' };
  } catch (error) {
    return { error: error instanceof Error ? `${error.stack}` : `Thrown: ${String(error)}` };
  }
};

parentPort?.on('message', async (message: unknown) => {
  const invocation = Invocation.parse(message);
  process.env['_X_AMZN_TRACE_ID'] = invocation.traceId;
  parentPort?.postMessage(await run(invocation));
});
parentPort?.postMessage('ready');

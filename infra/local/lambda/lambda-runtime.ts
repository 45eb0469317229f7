import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import * as z from 'zod/mini';

/** What an execution environment is started with: a bundle's text, and what its context object says. */
const Start = z.object({
  code: z.string(),
  filename: z.string(),
  exportName: z.string(),
  functionName: z.string(),
  functionArn: z.string(),
  memoryMiB: z.number(),
});

const Invocation = z.object({
  requestId: z.string(),
  traceId: z.string(),
  /** The event as JSON. */
  event: z.string(),
  deadline: z.number(),
});
type Invocation = z.output<typeof Invocation>;

const start = Start.parse(workerData);

const load = () => {
  const module = { exports: {} };
  const { filename } = start;
  compileFunction(start.code, ['exports', 'require', 'module', '__filename', '__dirname'], {
    filename,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })(module.exports, createRequire(filename), module, filename, dirname(filename));
  return z.record(z.string(), z.unknown()).parse({ ...module.exports });
};

const { [start.exportName]: handler, initialise } = load();
if (typeof handler !== 'function') {
  throw new Error(`${start.filename} exports no function ${start.exportName}`);
}
// As the module that Lambda loads does (infra/lambda/bundle-functions.ts).
if (typeof initialise === 'function') await initialise();

const contextOf = ({ requestId, deadline }: Invocation) => ({
  awsRequestId: requestId,
  callbackWaitsForEmptyEventLoop: true,
  functionName: start.functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: start.functionArn,
  memoryLimitInMB: `${start.memoryMiB}`,
  logGroupName: `/aws/lambda/${start.functionName}`,
  logStreamName: 'local',
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

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { localAccount } from '../local-account.ts';
import type { Outcome, SentInvocation } from './local-function.ts';

const { env } = process;
const functionName = env['AWS_LAMBDA_FUNCTION_NAME'];

// This is the deployed module. Loading it initialises the function.
const file = join(`${env['LAMBDA_TASK_ROOT']}`, `${env['_HANDLER']}`.replace('.handler', '.mjs'));
const { handler } = await import(pathToFileURL(file).href);

/** The error that the current request threw, before the chain turned it into a response. */
let thrown: unknown;
// The hook is added to the Middy handler here, because the bundle itself never writes a stack.
handler.onError?.(({ error }: { readonly error: unknown }) => {
  thrown = error instanceof Error && error.cause instanceof Error ? error.cause : error;
});

const contextOf = ({ requestId, deadline }: SentInvocation) => ({
  awsRequestId: requestId,
  callbackWaitsForEmptyEventLoop: true,
  functionName,
  functionVersion: env['AWS_LAMBDA_FUNCTION_VERSION'],
  invokedFunctionArn: `arn:aws:lambda:${env['AWS_REGION']}:${localAccount}:function:${functionName}`,
  memoryLimitInMB: env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'],
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
});

const stackOf = (error: unknown) =>
  error instanceof Error ? `${error.stack}` : `Thrown: ${String(error)}`;

/**
 * Returns the handler's result as JSON, or the error that it threw. Nothing else leaves
 * an execution environment.
 */
const run = async (invocation: SentInvocation): Promise<Outcome> => {
  thrown = undefined;
  try {
    const result = await handler(invocation.event, contextOf(invocation));
    return {
      result: JSON.stringify(result) ?? 'null',
      ...(result?.statusCode >= 500 && { failure: stackOf(thrown) }),
    };
  } catch (error) {
    return { error: stackOf(error) };
  }
};

parentPort?.on('message', async (invocation: SentInvocation) => {
  env['_X_AMZN_TRACE_ID'] = invocation.traceId;
  parentPort?.postMessage(await run(invocation));
});
parentPort?.postMessage('loaded');

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FunctionDefinition } from '../../infra/local/lambda/function-definition.ts';
import { localCredentials, localRegion } from '../../infra/local/local-account.ts';
import { type Outcome, RuntimeApi } from './runtime-api.ts';

const runtimeClient = join(import.meta.dirname, 'node_modules/aws-lambda-ric/index.mjs');

/**
 * Starts a function in a process of its own, which AWS's runtime client runs from the folder that is deployed.
 * Gives how INIT ended, what the process prints, and a way to invoke it.
 */
export const startFunction = async (
  { bundleName, functionName, memoryMiB, timeoutMs, environment }: FunctionDefinition,
  taskRoot: string,
  dynamodbEndpoint: string,
) => {
  const api = new RuntimeApi();
  const handler = `${bundleName}.handler`;
  const child = spawn(process.execPath, [runtimeClient, handler], {
    cwd: taskRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      AWS_LAMBDA_RUNTIME_API: await api.listen(),
      _HANDLER: handler,
      LAMBDA_TASK_ROOT: taskRoot,
      AWS_REGION: localRegion,
      AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_NAME: functionName,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${memoryMiB}`,
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${functionName}`,
      AWS_LAMBDA_LOG_STREAM_NAME: 'test',
      TZ: ':UTC',
      ...environment,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint,
    },
  });
  const printed = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.err += text;
  });
  const ended = once(child, 'close');
  return {
    initialised: api.initialised.promise,
    printed,
    invoke: (requestId: string, event: unknown): Promise<Outcome> =>
      api.invoke(requestId, event, timeoutMs),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      api.close();
    },
  };
};

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FunctionDefinition } from '../../infra/local/lambda/function-definition.ts';
import { environmentOf } from '../../infra/local/lambda/lambda-function.ts';
import { type Outcome, RuntimeApi } from './runtime-api.ts';

const runtimeClient = join(import.meta.dirname, 'node_modules/aws-lambda-ric/index.mjs');

/**
 * Starts a function in a process of its own, which AWS's runtime client runs from the folder that is deployed.
 * Gives how INIT ended, what the process prints, and a way to invoke it.
 */
export const startFunction = async (
  definition: FunctionDefinition,
  directory: string,
  dynamodbEndpoint: string,
) => {
  const api = new RuntimeApi();
  const environment = { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
  const child = spawn(process.execPath, [runtimeClient, `${definition.bundleName}.handler`], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environmentOf({ definition, directory, environment }),
      AWS_LAMBDA_RUNTIME_API: await api.listen(),
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_GROUP_NAME: 'test',
      AWS_LAMBDA_LOG_STREAM_NAME: 'test',
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
      api.invoke(requestId, event, definition.timeoutMs),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      api.close();
    },
  };
};

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { environmentOf } from '../../infra/local/lambda/local-function.ts';
import type { FunctionDefinition } from '../../infra/local/stack-definition.ts';
import { lambdaFlags } from '../support/lambda-process.ts';
import { listen } from '../support/listen.ts';

const runtimeClient = join(import.meta.dirname, 'node_modules/aws-lambda-ric/index.mjs');

/**
 * The server that Lambda runs beside a function's runtime, for one execution environment:
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
const runtimeApi = () => {
  const initialised = Promise.withResolvers<unknown>();
  let next = Promise.withResolvers<ServerResponse>();
  let outcome = Promise.withResolvers<unknown>();
  const server = createServer(async (request, response) => {
    const path = `${request.url}`;
    if (path.endsWith('/invocation/next')) {
      initialised.resolve('ready');
      return next.resolve(response);
    }
    const reported: unknown = await json(request);
    response.writeHead(202).end();
    if (path.endsWith('/init/error')) initialised.resolve({ error: reported });
    return outcome.resolve(path.endsWith('/error') ? { error: reported } : { response: reported });
  });
  const invoke = async (requestId: string, event: unknown, timeoutMs: number) => {
    const response = await next.promise;
    next = Promise.withResolvers();
    outcome = Promise.withResolvers();
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': requestId,
      'Lambda-Runtime-Deadline-Ms': `${Date.now() + timeoutMs}`,
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:eu-west-1:000000000000:function:f',
      'Lambda-Runtime-Trace-Id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1',
    });
    response.end(JSON.stringify(event));
    return outcome.promise;
  };
  return { server, initialised: initialised.promise, invoke };
};

/**
 * Starts a function in a process of its own, as Lambda's bootstrap does, which AWS's runtime client runs from
 * the folder that is deployed. `initialised` is `ready` or the error of INIT; `invoke` gives the response or
 * the error that the runtime reports.
 */
export const startFunction = async (
  definition: FunctionDefinition,
  directory: string,
  dynamodbEndpoint: string,
) => {
  const { server, initialised, invoke } = runtimeApi();
  const environment = { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
  const wrapper = definition.environment['AWS_LAMBDA_EXEC_WRAPPER'] ?? '';
  const handler = `${definition.bundleName}.handler`;
  // The bootstrap of the image that `lambdaFlags` names runs Node.js by the wrapper.
  const words = [process.execPath, ...lambdaFlags, runtimeClient, handler];
  const child = spawn(wrapper.replace('/var/task', directory), words, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environmentOf({ definition, directory, environment }),
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${await listen(server)}`,
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_GROUP_NAME: 'test',
      AWS_LAMBDA_LOG_STREAM_NAME: 'test',
    },
  });
  const closed = once(child, 'close');
  const printed = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    printed.out += text;
  });
  child.stderr.on('data', (text) => {
    printed.err += text;
  });
  return {
    initialised,
    printed,
    invoke: (requestId: string, event: unknown) => invoke(requestId, event, definition.timeoutMs),
    stop: async () => {
      child.kill('SIGKILL');
      await closed;
      server.close();
      server.closeAllConnections();
    },
  };
};

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FunctionDefinition } from '../../infra/local/lambda/function-definition.ts';
import { localCredentials, localRegion } from '../../infra/local/local-account.ts';
import { type Outcome, RuntimeApi } from './runtime-api.ts';

const runtimeClient = join(import.meta.dirname, 'node_modules/aws-lambda-ric/index.mjs');

/** A function in a process of its own, which AWS's runtime client runs from the folder that is deployed. */
export class FunctionProcess {
  readonly #api: RuntimeApi;
  readonly #timeoutMs: number;
  readonly #stop: () => Promise<void>;
  out = '';
  err = '';

  private constructor(
    { bundleName, functionName, memoryMiB, timeoutMs, environment }: FunctionDefinition,
    taskRoot: string,
    address: string,
    api: RuntimeApi,
    dynamodbEndpoint: string,
  ) {
    this.#api = api;
    this.#timeoutMs = timeoutMs;
    const handler = `${bundleName}.handler`;
    const child = spawn(process.execPath, [runtimeClient, handler], {
      cwd: taskRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        AWS_LAMBDA_RUNTIME_API: address,
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
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    const ended = once(child, 'close');
    this.#stop = async () => {
      child.kill('SIGKILL');
      await ended;
    };
  }

  static async start(
    definition: FunctionDefinition,
    taskRoot: string,
    dynamodbEndpoint: string,
  ): Promise<FunctionProcess> {
    const api = new RuntimeApi();
    return new FunctionProcess(definition, taskRoot, await api.listen(), api, dynamodbEndpoint);
  }

  /** How INIT ended. */
  get initialised() {
    return this.#api.initialised;
  }

  invoke(requestId: string, event: unknown): Promise<Outcome> {
    return this.#api.invoke(requestId, event, this.#timeoutMs);
  }

  /** The lines of standard output. */
  get lines(): string[] {
    return this.out.split('\n').filter((line) => line !== '');
  }

  async stop(): Promise<void> {
    await this.#stop();
    this.#api.close();
  }
}

import { once } from 'node:events';
import inspector from 'node:inspector';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { nodeMajorVersion } from '../../settings/node-version.ts';
import { localCredentials, localRegion } from '../local-account.ts';
import type { FunctionDefinition } from '../stack-definition.ts';
import { sourceMapped } from './source-mapped.ts';

export interface LocalFunctionOptions {
  readonly definition: FunctionDefinition;
  /** The folder that is deployed. It contains `<bundle name>.mjs` and the files that this module loads. */
  readonly directory: string;
  /** Environment variables besides those that the template and Lambda itself set. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Called with each line that the function prints, with the reason why an invocation failed, and for each
   * 5xx with the source-mapped stack of the error that caused it.
   */
  readonly log: (line: string) => void;
}

export interface Invocation {
  readonly requestId: string;
  readonly traceId: string;
  readonly event: unknown;
}

/** An invocation as the worker receives it, with the time at which it times out, in ms since 1970. */
export interface SentInvocation extends Invocation {
  readonly deadline: number;
}

/** The outcome of an invocation: its result as JSON, or the reason why there is none. */
export interface Outcome {
  readonly result?: string;
  readonly error?: string;
  /** The stack of the error that was thrown, if the result is a 5xx. */
  readonly failure?: string;
}

/** An invocation that gave no result. The message has the reason. */
export class FunctionError extends Error {}

/**
 * Runs one version of a function as Lambda does, in a worker thread that handles one invocation at a time.
 * The worker starts with the first invocation, and again after it has ended.
 */
export class LocalFunction {
  readonly #options: LocalFunctionOptions;
  #environment: ReturnType<typeof startEnvironment> | undefined;
  /** The end of the last invocation. It never rejects. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(options: LocalFunctionOptions) {
    this.#options = options;
  }

  /** Returns the handler's result as JSON. Throws a `FunctionError` when there is none. */
  invoke(invocation: Invocation): Promise<string> {
    const result = this.#idle.then(() => this.#run(invocation));
    this.#idle = result.catch(() => {});
    return result;
  }

  async #run(invocation: Invocation): Promise<string> {
    const { definition, directory, log } = this.#options;
    if (this.#environment?.hasEnded() !== false)
      this.#environment = startEnvironment(this.#options);
    const { result, error = '', failure } = await this.#environment.invoke(invocation);
    if (failure !== undefined) log(sourceMapped(failure, directory));
    if (result !== undefined) return result;
    const { bundleName } = definition;
    log(`${bundleName} failed, ${invocation.requestId}: ${sourceMapped(error, directory)}`);
    throw new FunctionError(error);
  }

  /** Ends the function after its last invocation. */
  async stop(): Promise<void> {
    await this.#idle;
    await this.#environment?.end('the function has been stopped');
  }
}

/** What is loaded before a function in a debugger. */
const debuggerPreloads = ['stretch-timeouts.cjs', 'run-modules-as-scripts.cjs'].flatMap((file) => [
  '--require',
  join(import.meta.dirname, file),
]);
/** The longest time that a timer of Node.js takes, in ms. */
const longestMs = 2 ** 31 - 1;

const startEnvironment = (options: LocalFunctionOptions) => {
  const { definition, log } = options;
  const { bundleName } = definition;
  const seconds = definition.timeoutMs / 1_000;
  // A debugger may stop a request for any time.
  const isInspected = inspector.url() !== undefined;
  const timeoutMs = isInspected ? longestMs : definition.timeoutMs;
  const worker = new Worker(new URL('./lambda-runtime.ts', import.meta.url), {
    env: environmentOf(options),
    argv: [],
    execArgv: isInspected ? debuggerPreloads : [],
    stdout: true,
    stderr: true,
    // By default a worker's stack is four times that of the main thread, where Lambda runs a function.
    resourceLimits: { maxOldGenerationSizeMb: definition.memoryMiB, stackSizeMb: 1 },
  });
  // Aborted with the reason when the environment ends.
  const ending = new AbortController();
  const ended = ending.signal;
  const end = (reason: string) => {
    ending.abort(reason);
    return worker.terminate();
  };
  worker.on('error', (error: unknown) =>
    end(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  worker.on('exit', () => end('its environment ended'));
  for (const input of [worker.stdout, worker.stderr]) createInterface({ input }).on('line', log);

  // Loading has no time limit, because a laptop can be slow.
  const loaded = once(worker, 'message', { signal: ended }).catch(() => {});
  return {
    hasEnded: () => ended.aborted,
    end,
    invoke: async (invocation: Invocation): Promise<Outcome> => {
      await loaded;
      const sent: SentInvocation = { ...invocation, deadline: Date.now() + timeoutMs };
      worker.postMessage(sent);
      const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
      const remind = () =>
        log(
          `${bundleName} runs for more than ${seconds} s, and has no time limit with --inspect. A debugger shows where it is.`,
        );
      const reminder = isInspected ? setTimeout(remind, definition.timeoutMs) : undefined;
      try {
        const [outcome]: Outcome[] = await once(worker, 'message', { signal });
        return outcome ?? {};
      } catch {
        end(`the task timed out after ${seconds} s`);
        return { error: ended.reason };
      } finally {
        clearTimeout(reminder);
      }
    },
  };
};

/**
 * Returns the endpoints of AWS's services in the environment of this process, such as `AWS_ENDPOINT_URL_SQS`
 * for an emulator of SQS.
 */
export const serviceEndpoints = (): Record<string, string> => {
  const endpoints: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env))
    if (value && name.startsWith('AWS_ENDPOINT_URL_')) endpoints[name] = value;
  return endpoints;
};

/**
 * Returns the variables that Lambda sets, and those of the template. Of this process's own variables, only
 * the endpoints of services are among them.
 */
export const environmentOf = ({
  definition,
  directory,
  environment,
}: Pick<LocalFunctionOptions, 'definition' | 'directory' | 'environment'>) => ({
  ...serviceEndpoints(),
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${nodeMajorVersion}.x`,
  AWS_LAMBDA_FUNCTION_NAME: definition.functionName,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${definition.memoryMiB}`,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  _HANDLER: `${definition.bundleName}.handler`,
  LAMBDA_TASK_ROOT: directory,
  TZ: ':UTC',
  ...definition.environment,
  ...environment,
});

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { localCredentials, localRegion } from '../local-account.ts';
import type { FunctionDefinition } from './function-definition.ts';
import { sourceMapped } from './source-mapped.ts';

/** Receivers of a function's output and failures. */
export interface FunctionReports {
  /** Called with each line that the function prints, and with the reason why an invocation failed. */
  readonly log: (line: string) => void;
  /** Called for each 5xx with the source-mapped stack of the error that caused it. */
  readonly failure?: ((stack: string) => void) | undefined;
}

export interface LambdaFunctionOptions extends FunctionReports {
  readonly definition: FunctionDefinition;
  /** The folder that is deployed. It contains `<bundle name>.mjs` and the files that this module loads. */
  readonly directory: string;
  /** Environment variables besides those that the template and Lambda itself set. */
  readonly environment: Readonly<Record<string, string>>;
  /** A CommonJS module that is loaded before the function. */
  readonly preload?: string | undefined;
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
 * Runs one version of a function as Lambda does, in an environment that handles one invocation at a time.
 * The environment starts with the first invocation, and again after it has ended.
 */
export class LambdaFunction {
  readonly #options: LambdaFunctionOptions;
  #environment: ReturnType<typeof startEnvironment> | undefined;
  /** The end of the last invocation. It never rejects. */
  #idle: Promise<unknown> = Promise.resolve();
  #isTerminated = false;

  constructor(options: LambdaFunctionOptions) {
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
    try {
      if (this.#isTerminated) throw new FunctionError('The function has been stopped');
      if (this.#environment?.hasEnded() !== false)
        this.#environment = startEnvironment(this.#options);
      return await this.#environment.invoke(invocation);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const { functionName } = definition;
      if (!this.#isTerminated)
        log(`${functionName} failed, ${invocation.requestId}: ${sourceMapped(reason, directory)}`);
      throw error;
    }
  }

  /** Ends the function after its last invocation. */
  async retire(): Promise<void> {
    await this.#idle;
    await this.terminate();
  }

  /** Ends the function immediately. Invocations that are still running fail, and so do later ones. */
  async terminate(): Promise<void> {
    this.#isTerminated = true;
    await this.#environment?.terminate();
  }
}

const startEnvironment = (options: LambdaFunctionOptions) => {
  const { definition, directory, log, failure, preload } = options;
  const worker = new Worker(new URL('./lambda-runtime.ts', import.meta.url), {
    env: environmentOf(options),
    argv: [],
    execArgv: preload ? ['--require', preload] : [],
    stdout: true,
    stderr: true,
    // By default a worker's stack is four times that of the main thread, where Lambda runs a function.
    resourceLimits: { maxOldGenerationSizeMb: definition.memoryMiB, stackSizeMb: 1 },
  });
  // Aborted with a `FunctionError` that has the reason, when the environment ends.
  const ending = new AbortController();
  const ended = ending.signal;
  const end = (reason: string) => {
    ending.abort(new FunctionError(reason));
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
    invoke: async (invocation: Invocation): Promise<string> => {
      await loaded;
      const { timeoutMs } = definition;
      const sent: SentInvocation = { ...invocation, deadline: Date.now() + timeoutMs };
      worker.postMessage(sent);
      const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
      const [outcome]: Outcome[] = await once(worker, 'message', { signal }).catch(() => {
        end(`the task timed out after ${timeoutMs / 1_000} s`);
        throw ended.reason;
      });
      if (outcome?.failure !== undefined) failure?.(sourceMapped(outcome.failure, directory));
      if (outcome?.result === undefined) throw new FunctionError(outcome?.error);
      return outcome.result;
    },
    terminate: () => end('the function has been stopped'),
  };
};

/**
 * Returns the variables that Lambda sets, and those of the template. None of this process's own
 * variables are among them.
 */
export const environmentOf = ({
  definition,
  directory,
  environment,
}: Pick<LambdaFunctionOptions, 'definition' | 'directory' | 'environment'>) => ({
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: definition.functionName,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${definition.memoryMiB}`,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  _HANDLER: `${definition.bundleName}.handler`,
  LAMBDA_TASK_ROOT: directory,
  TZ: ':UTC',
  ...definition.environment,
  ...environment,
});

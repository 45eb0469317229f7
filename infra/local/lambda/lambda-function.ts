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
  /** The time in which the function must be loaded, in ms. The default is Lambda's limit. */
  readonly initTimeoutMs?: number | undefined;
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

/** The maximum number of invocations at a time. Others wait. */
const maxEnvironments = 4;
/** Lambda's limit for the time in which a function is loaded, in ms. */
const lambdaInitTimeoutMs = 10_000;
/** The maximum size of a result, in bytes. A longer result ends the runtime (DataBiosphere/azul#8258). */
const maxResultBytes = 6_291_556;

/** An invocation that gave no result. The message has the reason. */
export class FunctionError extends Error {}

/**
 * A slot for one environment. The environment is started when it is first needed, and
 * replaced when it has ended.
 */
interface Slot {
  environment?: ReturnType<typeof startEnvironment>;
}

/**
 * Runs one version of a function as Lambda does. An environment handles one invocation
 * at a time and is reused.
 */
export class LambdaFunction {
  readonly #options: LambdaFunctionOptions;
  readonly #slots: readonly Slot[] = Array.from({ length: maxEnvironments }, () => ({}));
  readonly #free = [...this.#slots];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #isTerminated = false;

  constructor(options: LambdaFunctionOptions) {
    this.#options = options;
  }

  /** Returns the handler's result as JSON. Throws a `FunctionError` when there is none. */
  async invoke(invocation: Invocation): Promise<string> {
    const slot =
      this.#free.pop() ?? (await new Promise<Slot>((resolve) => this.#waiting.push(resolve)));
    try {
      if (this.#isTerminated) throw new FunctionError('The function has been stopped');
      if (slot.environment?.hasEnded() !== false)
        slot.environment = startEnvironment(this.#options);
      return await slot.environment.invoke(invocation);
    } catch (error) {
      const { definition, directory, log } = this.#options;
      if (!this.#isTerminated)
        log(
          `${definition.functionName} failed, ${invocation.requestId}: ${reasonOf(error, directory)}`,
        );
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next) next(slot);
      else this.#free.push(slot);
    }
  }

  /** Tells whether an invocation is running. */
  isBusy(): boolean {
    return this.#free.length < this.#slots.length;
  }

  /** Ends the function immediately. Invocations that are still running fail, and so do later ones. */
  async terminate(): Promise<void> {
    this.#isTerminated = true;
    await Promise.all(this.#slots.map(({ environment }) => environment?.terminate()));
  }
}

const reasonOf = (error: unknown, directory: string) =>
  sourceMapped(error instanceof Error ? error.message : String(error), directory);

const startEnvironment = (options: LambdaFunctionOptions) => {
  const { definition, directory, log, failure, preload } = options;
  const { initTimeoutMs = lambdaInitTimeoutMs } = options;
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

  /**
   * Waits for the worker's next message. Throws a `FunctionError` when the environment
   * ends first, or after `ms`.
   */
  const message = async (ms: number, what: string): Promise<Outcome> => {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(ms)]);
    try {
      return (await once(worker, 'message', { signal }))[0];
    } catch {
      end(`${what} timed out after ${ms / 1_000} s`);
      throw ended.reason;
    }
  };
  const ready = message(initTimeoutMs, 'loading');
  ready.catch(() => {});
  return {
    hasEnded: () => ended.aborted,
    invoke: async (invocation: Invocation): Promise<string> => {
      await ready;
      const { timeoutMs } = definition;
      const sent: SentInvocation = { ...invocation, deadline: Date.now() + timeoutMs };
      worker.postMessage(sent);
      const outcome = await message(timeoutMs, 'the task');
      if (outcome.failure !== undefined) failure?.(sourceMapped(outcome.failure, directory));
      if (outcome.result === undefined) throw new FunctionError(outcome.error);
      if (Buffer.byteLength(outcome.result) <= maxResultBytes) return outcome.result;
      end(`the result has more than ${maxResultBytes} bytes`);
      throw ended.reason;
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

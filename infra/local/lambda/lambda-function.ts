import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { localCredentials, localRegion } from '../local-account.ts';
import type { FunctionDefinition } from './function-definition.ts';
import { sourceMapped } from './source-mapped.ts';

/** Where a function's output and failures are sent. */
export interface FunctionReports {
  /** Gets each line that the function prints, and why an invocation failed. */
  readonly log: (line: string) => void;
  /** Gets the source-mapped stack of what a request threw whose result is a 5xx. */
  readonly failure?: ((stack: string) => void) | undefined;
}

export interface LambdaFunctionOptions extends FunctionReports {
  readonly definition: FunctionDefinition;
  /** The folder that is deployed: `<bundle name>.mjs`, and what it loads. */
  readonly directory: string;
  /** Variables beside those that the template and Lambda itself set. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Invocation {
  readonly requestId: string;
  readonly traceId: string;
  readonly event: unknown;
}

/** An invocation as the worker gets it, and when it times out, in ms since 1970. */
export interface SentInvocation extends Invocation {
  readonly deadline: number;
}

/** What the worker makes of an invocation: its result as JSON, or why there is none. */
export interface Outcome {
  readonly result?: string;
  readonly error?: string;
  /** The stack of what was thrown, if the result is a 5xx. */
  readonly failure?: string;
}

/** More invocations than this at a time wait for their turn. */
const maxEnvironments = 4;
/** Lambda's own limit for loading a function. */
const initTimeoutMs = 10_000;
/** A longer result ends the runtime (row 50 of aws-recorded.md). */
const maxResultBytes = 6_291_556;

/** Why an invocation gave no result. */
export class FunctionError extends Error {}

/** Room for one environment, which is started when it is first needed and replaced when it has ended. */
interface Slot {
  environment?: ExecutionEnvironment;
}

/** One version of a function, run as Lambda does: one invocation at a time per environment, environments reused. */
export class LambdaFunction {
  readonly #options: LambdaFunctionOptions;
  readonly #slots: readonly Slot[] = Array.from({ length: maxEnvironments }, () => ({}));
  readonly #free = [...this.#slots];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #isTerminated = false;

  constructor(options: LambdaFunctionOptions) {
    this.#options = options;
  }

  /** The handler's result as JSON. Throws a `FunctionError` when there is none. */
  async invoke(invocation: Invocation): Promise<string> {
    const slot =
      this.#free.pop() ?? (await new Promise<Slot>((resolve) => this.#waiting.push(resolve)));
    try {
      return await this.#environmentIn(slot).invoke(invocation);
    } catch (error) {
      if (!this.#isTerminated) this.#report(invocation, error);
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next) next(slot);
      else this.#free.push(slot);
    }
  }

  /** Ends the function at once; invocations that still run fail, and so do later ones. */
  async terminate(): Promise<void> {
    this.#isTerminated = true;
    await Promise.all(this.#slots.map(({ environment }) => environment?.terminate()));
  }

  #environmentIn(slot: Slot): ExecutionEnvironment {
    if (this.#isTerminated) throw new FunctionError('The function has been stopped');
    if (!slot.environment || slot.environment.isEnded) {
      slot.environment = new ExecutionEnvironment(this.#options);
    }
    return slot.environment;
  }

  #report({ requestId }: Invocation, error: unknown) {
    const { definition, log } = this.#options;
    const reason = sourceMapped(error instanceof Error ? error.message : String(error));
    log(`${definition.functionName} failed, ${requestId}: ${reason}`);
  }
}

class ExecutionEnvironment {
  readonly #options: LambdaFunctionOptions;
  readonly #worker: Worker;
  readonly #ready: Promise<unknown>;
  /** Aborted, by a `FunctionError` with the reason, when the environment ends. */
  readonly #ended = new AbortController();

  constructor(options: LambdaFunctionOptions) {
    this.#options = options;
    this.#worker = new Worker(new URL('./lambda-runtime.ts', import.meta.url), {
      env: environmentOf(options),
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      // A worker's stack is four times that of the main thread, where Lambda runs a function.
      resourceLimits: { maxOldGenerationSizeMb: options.definition.memoryMiB, stackSizeMb: 1 },
    });
    for (const input of [this.#worker.stdout, this.#worker.stderr]) {
      createInterface({ input }).on('line', options.log);
    }
    this.#worker.on('error', (error: unknown) =>
      this.#end(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    this.#worker.on('exit', () => this.#end('its environment ended'));
    this.#ready = this.#message(initTimeoutMs, 'loading');
    this.#ready.catch(() => {});
  }

  get isEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  async invoke(invocation: Invocation): Promise<string> {
    await this.#ready;
    const { definition, failure } = this.#options;
    const { timeoutMs } = definition;
    const sent: SentInvocation = { ...invocation, deadline: Date.now() + timeoutMs };
    this.#worker.postMessage(sent);
    const outcome = await this.#message(timeoutMs, 'the task');
    if (outcome.failure !== undefined) failure?.(sourceMapped(outcome.failure));
    if (outcome.result === undefined) throw new FunctionError(outcome.error);
    if (Buffer.byteLength(outcome.result) <= maxResultBytes) return outcome.result;
    throw this.#end(`the result has more than ${maxResultBytes} bytes`);
  }

  async terminate() {
    this.#end('the function has been stopped');
    await this.#worker.terminate();
  }

  /** The worker's next message. Throws a `FunctionError` when the environment ends first, or after `ms`. */
  async #message(ms: number, what: string): Promise<Outcome> {
    const { signal } = this.#ended;
    const timer = setTimeout(() => this.#end(`${what} timed out after ${ms / 1_000} s`), ms);
    try {
      const [message] = await once(this.#worker, 'message', { signal });
      return message;
    } catch (error) {
      throw signal.reason ?? error;
    } finally {
      clearTimeout(timer);
    }
  }

  #end(reason: string): FunctionError {
    const error = new FunctionError(reason);
    this.#ended.abort(error);
    void this.#worker.terminate();
    return error;
  }
}

/** What Lambda itself sets, then what the template does; nothing of this process's own environment. */
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

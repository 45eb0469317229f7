import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { localAccount, localCredentials, localRegion } from '../local-account.ts';
import type { FunctionDefinition } from './function-definition.ts';

export interface LambdaFunctionOptions {
  readonly definition: FunctionDefinition;
  /** The deployed files by name: `<bundle name>.mjs`, and what it loads. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables beside those that the template and Lambda itself set. */
  readonly environment: Readonly<Record<string, string>>;
  /** Gets each line that the function prints, and why an invocation failed. */
  readonly log: (line: string) => void;
}

export interface Invocation {
  readonly requestId: string;
  readonly traceId: string;
  readonly event: unknown;
}

/** An invocation as the worker gets it. */
export interface SentInvocation extends Omit<Invocation, 'event'> {
  /** The event as JSON. */
  readonly event: string;
  readonly functionArn: string;
  /** When it times out, in ms since 1970. */
  readonly deadline: number;
}

/** What the worker makes of an invocation: its result as JSON, or why there is none. */
interface Outcome {
  readonly result?: string;
  readonly error?: string;
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

/** One version of a function's code, run as Lambda does: one invocation at a time per environment, environments reused. */
export class LambdaFunction {
  readonly options: LambdaFunctionOptions;
  readonly #taskRoot: string;
  readonly #slots: readonly Slot[] = Array.from({ length: maxEnvironments }, () => ({}));
  readonly #free = [...this.#slots];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #isRetired = false;
  #isTerminated = false;

  private constructor(options: LambdaFunctionOptions, taskRoot: string) {
    this.options = options;
    this.#taskRoot = taskRoot;
  }

  /** Puts the files into a folder of their own, which no later build changes; it is removed when the function ends. */
  static async deploy(options: LambdaFunctionOptions): Promise<LambdaFunction> {
    const taskRoot = await mkdtemp(join(tmpdir(), 'animal-store-function-'));
    await Promise.all(
      Object.entries(options.files).map(([name, text]) => writeFile(join(taskRoot, name), text)),
    );
    return new LambdaFunction(options, taskRoot);
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
      this.#endIfRetired();
    }
  }

  /** Ends the environments once the invocations that were sent have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#endIfRetired();
  }

  /** Ends the function at once; invocations that still run fail, and so do later ones. */
  async terminate(): Promise<void> {
    this.#isTerminated = true;
    await this.#endEnvironments();
  }

  async #endEnvironments() {
    await Promise.all(this.#slots.map(({ environment }) => environment?.terminate()));
    await rm(this.#taskRoot, { recursive: true, force: true });
  }

  #report({ requestId }: Invocation, error: unknown) {
    const { definition, log } = this.options;
    const reason = error instanceof Error ? error.message : String(error);
    const report = `${definition.functionName} failed, ${requestId}: ${reason}`;
    for (const line of report.split('\n')) log(line);
  }

  #endIfRetired() {
    if (this.#isRetired && this.#free.length === maxEnvironments) void this.#endEnvironments();
  }

  #environmentIn(slot: Slot): ExecutionEnvironment {
    if (this.#isTerminated) throw new FunctionError('The function has been stopped');
    if (!slot.environment || slot.environment.isEnded) {
      slot.environment = new ExecutionEnvironment(this.options, this.#taskRoot);
    }
    return slot.environment;
  }
}

class ExecutionEnvironment {
  readonly #options: LambdaFunctionOptions;
  readonly #worker: Worker;
  readonly #ready: Promise<unknown>;
  /** Aborted, by a `FunctionError` with the reason, when the environment ends. */
  readonly #ended = new AbortController();

  constructor(options: LambdaFunctionOptions, taskRoot: string) {
    const { definition, log } = options;
    this.#options = options;
    this.#worker = new Worker(new URL('./lambda-runtime.ts', import.meta.url), {
      env: environmentOf(options, taskRoot),
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      // A worker's stack is four times that of the main thread, where Lambda runs a function.
      resourceLimits: { maxOldGenerationSizeMb: definition.memoryMiB, stackSizeMb: 1 },
    });
    for (const input of [this.#worker.stdout, this.#worker.stderr]) {
      createInterface({ input }).on('line', log);
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

  async invoke({ requestId, traceId, event }: Invocation): Promise<string> {
    await this.#ready;
    const { functionName, timeoutMs } = this.#options.definition;
    const sent: SentInvocation = {
      requestId,
      traceId,
      functionArn: `arn:aws:lambda:${localRegion}:${localAccount}:function:${functionName}`,
      event: JSON.stringify(event),
      deadline: Date.now() + timeoutMs,
    };
    this.#worker.postMessage(sent);
    const { result, error } = await this.#message(timeoutMs, 'the task');
    if (result === undefined) throw new FunctionError(error);
    if (Buffer.byteLength(result) <= maxResultBytes) return result;
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
const environmentOf = ({ definition, environment }: LambdaFunctionOptions, taskRoot: string) => ({
  AWS_REGION: localRegion,
  AWS_DEFAULT_REGION: localRegion,
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
  AWS_SESSION_TOKEN: 'local',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: definition.functionName,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${definition.memoryMiB}`,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.functionName}`,
  AWS_LAMBDA_LOG_STREAM_NAME: 'local',
  _HANDLER: `${definition.bundleName}.${definition.exportName}`,
  LAMBDA_TASK_ROOT: taskRoot,
  LANG: 'en_US.UTF-8',
  TZ: ':UTC',
  ...definition.environment,
  ...environment,
});

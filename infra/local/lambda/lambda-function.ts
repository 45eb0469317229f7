import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import * as z from 'zod/mini';
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

/** More invocations than this at a time wait for their turn. */
const maxEnvironments = 4;
/** Lambda's own limit for loading a function. */
const initTimeoutMs = 10_000;
/** A longer result ends the runtime (row 50 of aws-recorded.md). */
const maxResultBytes = 6_291_556;

/** Why an invocation gave no result. */
export class FunctionError extends Error {}

/** One version of a function's code, run as Lambda does: one invocation at a time per environment, environments reused. */
export class LambdaFunction {
  readonly options: LambdaFunctionOptions;
  readonly #taskRoot: string;
  readonly #environments = new Set<ExecutionEnvironment>();
  readonly #idle: ExecutionEnvironment[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
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
    if (this.#busy >= maxEnvironments) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#busy += 1;
    }
    try {
      return await this.#run(invocation);
    } catch (error) {
      if (!this.#isTerminated) this.#report(invocation, error);
      throw error;
    } finally {
      this.#passTurn();
    }
  }

  /** Ends the environments once the invocations that were sent have ended. */
  retire(): void {
    this.#isRetired = true;
    if (this.#busy === 0) void this.#endEnvironments();
  }

  /** Ends the function at once; invocations that still run fail, and so do later ones. */
  async terminate(): Promise<void> {
    this.#isTerminated = true;
    await this.#endEnvironments();
  }

  async #endEnvironments() {
    await Promise.all([...this.#environments].map((environment) => environment.terminate()));
    this.#environments.clear();
    await rm(this.#taskRoot, { recursive: true, force: true });
  }

  async #run(invocation: Invocation): Promise<string> {
    const environment = this.#takeEnvironment();
    try {
      return await environment.invoke(invocation);
    } finally {
      this.#idle.push(environment);
    }
  }

  #report({ requestId }: Invocation, error: unknown) {
    const { definition, log } = this.options;
    const reason = error instanceof Error ? error.message : String(error);
    const report = `${definition.functionName} failed, ${requestId}: ${reason}`;
    for (const line of report.split('\n')) log(line);
  }

  #passTurn() {
    const next = this.#waiting.shift();
    if (next) {
      next();
      return;
    }
    this.#busy -= 1;
    if (this.#isRetired && this.#busy === 0) void this.#endEnvironments();
  }

  #takeEnvironment(): ExecutionEnvironment {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isEnded) return idle;
      this.#environments.delete(idle);
    }
    if (this.#isTerminated) throw new FunctionError('The function has been stopped');
    const environment = new ExecutionEnvironment(this.options, this.#taskRoot);
    this.#environments.add(environment);
    return environment;
  }
}

const Outcome = z.union([z.object({ result: z.string() }), z.object({ error: z.string() })]);

class ExecutionEnvironment {
  isEnded = false;
  readonly #options: LambdaFunctionOptions;
  readonly #worker: Worker;
  readonly #ready: Promise<unknown>;
  /** Why the environment has ended. */
  #end: FunctionError | undefined;
  /** Fails what the invocation waits for at the moment. */
  #fail: ((error: FunctionError) => void) | undefined;

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
      this.#hasEnded(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    this.#worker.on('exit', () => this.#hasEnded('its environment ended'));
    this.#ready = once(this.#worker, 'message');
    this.#ready.catch(() => {});
  }

  async invoke({ requestId, traceId, event }: Invocation): Promise<string> {
    await this.#within(initTimeoutMs, 'loading', this.#ready);
    const { functionName, timeoutMs } = this.#options.definition;
    this.#worker.postMessage({
      requestId,
      traceId,
      functionArn: `arn:aws:lambda:${localRegion}:${localAccount}:function:${functionName}`,
      event: JSON.stringify(event),
      deadline: Date.now() + timeoutMs,
    });
    const [message] = z
      .array(z.unknown())
      .parse(await this.#within(timeoutMs, 'the task', once(this.#worker, 'message')));
    const outcome = Outcome.parse(message);
    if ('error' in outcome) throw new FunctionError(outcome.error);
    if (Buffer.byteLength(outcome.result) > maxResultBytes) {
      await this.terminate();
      throw new FunctionError(`the result has more than ${maxResultBytes} bytes`);
    }
    return outcome.result;
  }

  async terminate() {
    this.isEnded = true;
    await this.#worker.terminate();
  }

  async #within<Value>(ms: number, what: string, step: Promise<Value>): Promise<Value> {
    // One promise for each step: a race keeps its result alive as long as the longest-lived of its promises.
    const failure = Promise.withResolvers<never>();
    this.#fail = failure.reject;
    if (this.#end) failure.reject(this.#end);
    const timer = setTimeout(() => {
      void this.terminate();
      failure.reject(new FunctionError(`${what} timed out after ${ms / 1_000} s`));
    }, ms);
    try {
      return await Promise.race([step, failure.promise]);
    } finally {
      clearTimeout(timer);
      this.#fail = undefined;
      step.catch(() => {});
    }
  }

  #hasEnded(reason: string) {
    this.isEnded = true;
    this.#end ??= new FunctionError(reason);
    this.#fail?.(this.#end);
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

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/** What a function did in a process of its own; times are CPU times of the whole process up to there, in ms. */
interface Report {
  readonly cpuMsAfterInit: number;
  readonly invocations: readonly {
    readonly cpuMs: number;
    readonly statusCode: number;
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly body: string;
  }[];
  /** Node's own modules that the function made Node load, as in `NativeModule https`. */
  readonly loaded: readonly string[];
}

export interface LambdaProcess {
  /** The file that Lambda loads. */
  readonly module: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Answered one after the other. */
  readonly events: readonly APIGatewayProxyEvent[];
  /** For Node.js, before the module. */
  readonly flags?: readonly string[];
  /** A program, with its arguments, that runs Node.js. */
  readonly runner?: readonly string[];
}

/** Runs a function in a process of its own, with nothing of this process's environment. */
export const runLambda = async ({
  module,
  environment,
  events,
  flags = [],
  runner = [],
}: LambdaProcess): Promise<Report> => {
  const runtime = join(import.meta.dirname, 'lambda-process.mjs');
  const [program = '', ...command] = [...runner, process.execPath, ...flags, runtime, module];
  const { stdout } = await promisify(execFile)(
    program,
    [...command, ...events.map((event) => JSON.stringify(event))],
    { env: environment },
  );
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1));
};

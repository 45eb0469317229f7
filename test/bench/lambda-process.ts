import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';

const Report = z.object({
  /** CPU time of the whole process up to here, in ms. */
  cpuMsAfterInit: z.number(),
  invocations: z.array(
    z.object({
      /** The same after this invocation. */
      cpuMs: z.number(),
      statusCode: z.number(),
      headers: z.optional(z.record(z.string(), z.unknown())),
      body: z.string(),
    }),
  ),
  residentBytes: z.number(),
  /** Node's own modules that the function made Node load, as in `NativeModule https`. */
  loaded: z.array(z.string()),
});
/** What came of a function in a process of its own. */
export type Report = z.output<typeof Report>;

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
  return Report.parse(JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1)));
};

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A report of what a function did in a process of its own. */
interface Report {
  /** The CPU time of the whole process, in ms. */
  readonly cpuMs: number;
  readonly invocations: readonly {
    readonly statusCode: number;
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly body: string;
  }[];
}

/**
 * How Lambda starts Node.js for a function of 1,024 MiB: the `bootstrap` of its public image
 * public.ecr.aws/lambda/nodejs.
 */
export const lambdaFlags = [
  '--expose-gc',
  ...['--max-http-header-size', '81920'],
  '--max-semi-space-size=51',
  '--max-old-space-size=922',
];

/** How often the first event is repeated, for the count of warm invocations. */
interface WarmPlan {
  /** Invocations that are not counted. */
  readonly warmUps: number;
  /** Counts, each of `invocationsOfRun` invocations. */
  readonly runs: number;
  readonly invocationsOfRun: number;
}

export interface LambdaProcess {
  /** The file that Lambda loads. */
  readonly module: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The events, which the function handles one after the other. */
  readonly events: readonly unknown[];
  readonly warm?: WarmPlan;
  /** Flags of Node.js, which come before the module. */
  readonly flags?: readonly string[];
  /** The command that runs Node.js, such as the wrapper of the function before Node.js. */
  readonly node?: readonly string[];
}

/** Runs a function in a process of its own, with nothing of this process's environment. */
export const runLambda = async ({
  module,
  environment,
  events,
  warm,
  flags = [],
  node = [process.execPath],
}: LambdaProcess): Promise<Report & { readonly printed: string }> => {
  const runtime = join(import.meta.dirname, 'lambda-process.mjs');
  const plan = JSON.stringify({ events, ...warm });
  const [program = '', ...words] = [...node, ...flags, runtime, module, plan];
  const options = { env: environment, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(program, words, options);
  const lastLine = stdout.lastIndexOf('\n');
  const report: Report = JSON.parse(stdout.slice(lastLine + 1));
  return { ...report, printed: stdout.slice(0, lastLine) };
};

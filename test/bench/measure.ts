import { DynamodbStandIn } from '../support/dynamodb-stand-in.ts';
import { lambdaFlags, runLambda } from '../support/lambda-process.ts';
import type { Build, Contender, Contenders, Program } from './contenders.ts';
import { countInstructions, countWrapper } from './instructions.ts';
import { type RequestName, requests } from './measured-requests.ts';

/** A program, how it is built, and the request that it handles. */
export interface Case {
  readonly program: Program;
  readonly build: Build;
  readonly request: RequestName;
}

/** A case with what it takes: millions of instructions, or milliseconds of CPU time. */
export interface Figure extends Case {
  readonly value: number;
}

/**
 * Counts the millions of instructions of cold starts, from the start of the process to the first response
 * over TLS, with those of the wrapper.
 */
export const measureColdStarts = async (
  contenders: Contenders,
  cases: readonly Case[],
): Promise<readonly Figure[]> => {
  await using standIn = await DynamodbStandIn.start();
  const count = async ({ program, build, request }: Case) => {
    const contender = contenders(program, build, request);
    const parts = await countInstructions(runOf(contender, standIn, request));
    if (contender.wrapper) parts.push(await countWrapper(contender.wrapper));
    return { program, build, request, value: parts.reduce((sum, part) => sum + part, 0) };
  };
  return await Promise.all(cases.map(count));
};

const invocationsOfRun = 50;
const warmUps = 1_500;
const runs = 16;
const bestRuns = 4;

/**
 * Counts the millions of instructions of an invocation that V8 has optimised: the mean of 50, in the best 4
 * of 16 runs, after 1,500 others. If only the best run counted, two measurements of one program could differ
 * by 3 %.
 */
export const measureWarmInvocations = async (
  contenders: Contenders,
  cases: readonly Case[],
): Promise<readonly Figure[]> => {
  await using standIn = await DynamodbStandIn.start();
  const count = async ({ program, build, request }: Case) => {
    const parts = await countInstructions({
      ...runOf(contenders(program, build, request), standIn, request),
      warm: { warmUps, runs, invocationsOfRun },
    });
    // The first parts are the start and the warm-up, and the last one is the end. In other runs,
    // V8 compiles, has not compiled yet, or collects garbage.
    const fewestFirst = parts.slice(-runs - 1, -1).toSorted((one, other) => one - other);
    const best = fewestFirst.slice(0, bestRuns).reduce((sum, part) => sum + part, 0);
    return { program, build, request, value: best / (bestRuns * invocationsOfRun) };
  };
  return await Promise.all(cases.map(count));
};

const rounds = 20;

/**
 * Measures the CPU time of cold starts in ms, with that of the wrapper: the least of 20, which alternate, so
 * that the load of the machine changes each program alike.
 */
export const measureCpuTimes = async (
  contenders: Contenders,
  cases: readonly Case[],
): Promise<readonly Figure[]> => {
  await using standIn = await DynamodbStandIn.start();
  const least = new Map<Case, number>();
  for (let round = 0; round < rounds; round += 1) {
    for (const each of cases) {
      const contender = contenders(each.program, each.build, each.request);
      const { wrapper, module, environment, events } = runOf(contender, standIn, each.request);
      const node = [...(wrapper ? [wrapper] : []), process.execPath];
      const { cpuMs } = await runLambda({ module, environment, events, flags: lambdaFlags, node });
      least.set(each, Math.min(cpuMs, least.get(each) ?? Number.POSITIVE_INFINITY));
    }
  }
  return cases.map((each) => ({ ...each, value: least.get(each) ?? Number.NaN }));
};

const runOf = (
  contender: Contender,
  { environment, apiKey }: DynamodbStandIn,
  name: RequestName,
) => ({
  ...contender,
  environment,
  events: [requests(apiKey)[name]],
});

import type { Build, Contenders, Program } from './contenders.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { countInstructions } from './instructions.ts';
import { type RequestName, requests } from './requests.ts';

/** A program, how it is built, and the request that it handles. */
export interface Case {
  readonly program: Program;
  readonly build: Build;
  readonly request: RequestName;
}

/** Millions of instructions of a cold start, less those of an empty handler. */
export interface ColdStart extends Case {
  /** From the start of the process to the first response over TLS. */
  readonly millions: number;
}

/** Counts cold starts. */
export const measureColdStarts = async (
  contenders: Contenders,
  cases: readonly Case[],
): Promise<readonly ColdStart[]> => {
  await using standIn = await DynamodbStandIn.start();
  const count = async ({ program, build, request }: Case) => {
    const parts = await countInstructions({
      module: contenders(program, build, request),
      environment: standIn.environment,
      events: [requests(standIn.apiKey)[request]],
      codeCache: build === 'defaults' ? undefined : build,
    });
    return parts.reduce((sum, part) => sum + part, 0);
  };
  const empty = count({ program: 'empty', build: 'defaults', request: 'getPet' });
  return await Promise.all(
    cases.map(async (each) => ({ ...each, millions: (await count(each)) - (await empty) })),
  );
};

/** Millions of instructions of one invocation of this service that V8 has optimised. */
export interface WarmInvocation {
  readonly request: RequestName;
  readonly millions: number;
}

const invocationsOfRun = 50;

/** Counts this many runs of 50 invocations for each request, after twice as many others. */
export const measureWarmInvocations = async (
  contenders: Contenders,
  measured: readonly RequestName[],
  runs: number,
): Promise<readonly WarmInvocation[]> => {
  await using standIn = await DynamodbStandIn.start();
  const count = async (request: RequestName) => {
    const parts = await countInstructions({
      module: contenders('service', 'hit', request),
      environment: standIn.environment,
      events: [requests(standIn.apiKey)[request]],
      warm: { warmUps: 2 * runs * invocationsOfRun, runs, invocationsOfRun },
      codeCache: 'hit',
    });
    // The first parts are the start and the warm-up, and the last one is the end. In all runs but the best,
    // V8 compiles or collects garbage.
    const fewest = Math.min(...parts.slice(-runs - 1, -1));
    return { request, millions: fewest / invocationsOfRun };
  };
  return await Promise.all(measured.map(count));
};

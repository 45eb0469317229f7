import { DynamodbStandIn } from '../support/dynamodb-stand-in.ts';
import type { Build, Contenders, Program } from './contenders.ts';
import { countInstructions } from './instructions.ts';
import { type RequestName, requests } from './requests.ts';

/** A program, how it is built, and the request that it handles. */
export interface Case {
  readonly program: Program;
  readonly build: Build;
  readonly request: RequestName;
}

/** A case with the millions of instructions that it takes. */
export interface Count extends Case {
  readonly millions: number;
}

/**
 * Counts cold starts, from the start of the process to the first response over TLS, less those of an empty
 * handler.
 */
export const measureColdStarts = async (
  contenders: Contenders,
  cases: readonly Case[],
): Promise<readonly Count[]> => {
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

const invocationsOfRun = 50;

/**
 * Counts invocations that V8 has optimised: the mean of 50, in the best of this many runs, after twice as many
 * others.
 */
export const measureWarmInvocations = async (
  contenders: Contenders,
  cases: readonly Case[],
  runs = 4,
): Promise<readonly Count[]> => {
  await using standIn = await DynamodbStandIn.start();
  const count = async ({ program, build, request }: Case) => {
    const parts = await countInstructions({
      module: contenders(program, build, request),
      environment: standIn.environment,
      events: [requests(standIn.apiKey)[request]],
      warm: { warmUps: 2 * runs * invocationsOfRun, runs, invocationsOfRun },
      codeCache: build,
    });
    // The first parts are the start and the warm-up, and the last one is the end. In all runs but the best,
    // V8 compiles or collects garbage.
    const fewest = Math.min(...parts.slice(-runs - 1, -1));
    return { program, build, request, millions: fewest / invocationsOfRun };
  };
  return await Promise.all(cases.map(count));
};

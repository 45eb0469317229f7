import type { DynamodbStandIn } from '../../infra/build/code-cache/dynamodb-stand-in.ts';
import { type ContenderName, type Contenders, measuredNames } from './contenders.ts';
import { countInstructions, repeatable } from './instructions.ts';
import { lambdaFlags, runLambda } from './lambda-process.ts';
import { type RequestName, requests } from './requests.ts';
import { type Samples, samplesOf } from './samples.ts';
import { startTlsStandIn } from './tls-stand-in.ts';

export const coldRequests = ['getPet', 'createPet', 'listPets'] as const;

/**
 * Millions of instructions from the start of a process to its first answer over TLS, less
 * those of an empty handler.
 */
export interface ColdInstructions {
  readonly name: ContenderName;
  readonly request: RequestName;
  readonly millions: Samples;
}

/** Counts each contender's cold start `runs` times for each request. */
export const measureColdInstructions = async (
  contenders: Contenders,
  names: readonly ContenderName[],
  measured: readonly RequestName[],
  runs: number,
): Promise<readonly ColdInstructions[]> => {
  if (names.length === 0) return [];
  await using standIn = await startTlsStandIn();
  const count = async (name: ContenderName, request: RequestName) => {
    const parts = await countInstructions((runner) =>
      coldStart(contenders, standIn, name, request, { runner, flags: repeatable }),
    );
    return parts.reduce((sum, millions) => sum + millions, 0);
  };
  // They run at the same time, because other load on the machine changes no count.
  const rows = measured.map(async (request) => {
    const empty = await count('empty', request);
    const ofRequest: ColdInstructions[] = [];
    for (const name of names) {
      const counts: number[] = [];
      for (let run = 0; run < runs; run += 1) counts.push((await count(name, request)) - empty);
      ofRequest.push({ name, request, millions: samplesOf(counts) });
    }
    return ofRequest;
  });
  return (await Promise.all(rows)).flat();
};

/** CPU times in ms, one for each round. In a round the contenders were measured one after the other. */
export interface ColdCpu {
  readonly name: ContenderName;
  /** From the start of the process to the first answer, less an empty handler. */
  readonly untilFirstAnswer: readonly number[];
  /** The part of it after INIT. */
  readonly firstInvocation: readonly number[];
}

/**
 * Measures the CPU time of a cold getPet in rounds, so that other load on the machine affects all contenders.
 */
export const measureColdCpu = async (
  contenders: Contenders,
  rounds: number,
): Promise<readonly ColdCpu[]> => {
  await using standIn = await startTlsStandIn();
  const none: number[] = [];
  const runs = measuredNames.map((name) => ({
    name,
    untilFirstAnswer: [...none],
    firstInvocation: [...none],
  }));
  for (let round = 0; round < rounds; round += 1) {
    const { cpuMs: emptyMs } = await coldStart(contenders, standIn, 'empty', 'getPet');
    for (const { name, untilFirstAnswer, firstInvocation } of runs) {
      const { cpuMs, firstMs } = await coldStart(contenders, standIn, name, 'getPet');
      untilFirstAnswer.push(cpuMs - emptyMs);
      firstInvocation.push(firstMs);
    }
  }
  return runs;
};

const coldStart = async (
  contenders: Contenders,
  standIn: DynamodbStandIn,
  name: ContenderName,
  request: RequestName,
  { runner, flags }: Partial<Record<'runner' | 'flags', readonly string[]>> = {},
) => {
  const { cpuMsAfterInit, invocations, loaded } = await runLambda({
    module: contenders[name](request),
    environment: standIn.environment,
    events: [requests(standIn.apiKey)[request]],
    flags: [...lambdaFlags, ...(flags ?? [])],
    node: [...(runner ?? []), process.execPath],
  });
  const [{ cpuMs, statusCode } = { cpuMs: 0, statusCode: 0 }] = invocations;
  if (!(statusCode < 300)) throw new Error(`${name} answers ${statusCode} to ${request}`);
  return { cpuMs, firstMs: cpuMs - cpuMsAfterInit, loaded };
};

/** Node's own modules that each operation makes Node.js load up to its first answer. */
export const loadedModules = async (
  contenders: Contenders,
): Promise<Readonly<Record<string, readonly string[]>>> => {
  await using standIn = await startTlsStandIn();
  const rows = coldRequests.map(async (request) => {
    const { loaded } = await coldStart(contenders, standIn, 'service', request);
    return [request, loaded.toSorted()] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
};

import {
  type ContenderName,
  type Contenders,
  expectedCodeCache,
  measuredNames,
  peerNames,
} from './contenders.ts';
import type { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { countInstructions, repeatable } from './instructions.ts';
import { lambdaFlags, runLambda } from './lambda-process.ts';
import { type RequestName, requests } from './requests.ts';
import { startTlsStandIn } from './tls-stand-in.ts';

export const coldRequests = ['getPet', 'createPet', 'listPets'] as const;

/** Millions of instructions of a cold start, less those of an empty handler. */
export interface ColdInstructions {
  readonly name: ContenderName;
  readonly request: RequestName;
  /** From the start of a process to its first answer over TLS. */
  readonly millions: number;
  /** The part of it after INIT, for which a client waits. */
  readonly firstInvocation: number;
}

/** Counts a cold start of each contender for each request. */
export const measureColdInstructions = async (
  contenders: Contenders,
  names: readonly ContenderName[],
  measured: readonly RequestName[],
): Promise<readonly ColdInstructions[]> => {
  if (names.length === 0) return [];
  await using standIn = await startTlsStandIn();
  const count = async (name: ContenderName, request: RequestName) => {
    const parts = await countInstructions((runner) =>
      coldStart(contenders, standIn, name, request, { runner, flags: countedFlags }),
    );
    const millions = parts.reduce((sum, part) => sum + part, 0);
    // Node.js calls getegid too when it starts, so INIT has several parts.
    return { firstInvocation: parts.at(-1) ?? Number.NaN, millions };
  };
  const rows = measured.map(async (request) => {
    const empty = count('empty', request);
    // The frameworks' figure of one request is enough.
    const counted = names.filter((name) => request === 'getPet' || !isPeer(name));
    return Promise.all(
      counted.map(async (name) => {
        const [{ millions, firstInvocation }, none] = await Promise.all([
          count(name, request),
          empty,
        ]);
        return {
          name,
          request,
          millions: millions - none.millions,
          firstInvocation: firstInvocation - none.firstInvocation,
        };
      }),
    );
  });
  return (await Promise.all(rows)).flat();
};

const isPeer = (name: ContenderName) => peerNames.some((peer) => peer === name);

/** Those of Lambda, under which Node.js executes the same instructions every time. */
const countedFlags = [...lambdaFlags, ...repeatable];

/** CPU times in ms, one for each round. In a round the contenders were measured one after the other. */
export interface ColdCpu {
  readonly name: ContenderName;
  /** From the start of the process to the first answer, less an empty handler. */
  readonly untilFirstAnswer: readonly number[];
}

/**
 * Measures the CPU time of a cold getPet in rounds, so that other load on the machine affects all
 * contenders. It includes what instructions can't tell: reading files, and page faults.
 */
export const measureColdCpu = async (
  contenders: Contenders,
  rounds: number,
): Promise<readonly ColdCpu[]> => {
  await using standIn = await startTlsStandIn();
  const cpuMsOf = (name: ContenderName) =>
    coldStart(contenders, standIn, name, 'getPet', { flags: lambdaFlags });
  const none: number[] = [];
  const runs = measuredNames.map((name) => ({ name, untilFirstAnswer: [...none] }));
  for (let round = 0; round < rounds; round += 1) {
    const { cpuMs: emptyMs } = await cpuMsOf('empty');
    for (const { name, untilFirstAnswer } of runs)
      untilFirstAnswer.push((await cpuMsOf(name)).cpuMs - emptyMs);
  }
  return runs;
};

interface ColdStartOptions {
  /** A program, with its arguments, that runs Node.js. */
  readonly runner?: readonly string[];
  readonly flags: readonly string[];
}

/** Throws when V8 does something else with the contender's code cache than expected. */
const coldStart = async (
  contenders: Contenders,
  standIn: DynamodbStandIn,
  name: ContenderName,
  request: RequestName,
  { runner = [], flags }: ColdStartOptions,
) => {
  const { codeCache, invocations, loaded } = await runLambda({
    module: contenders[name](request),
    environment: standIn.environment,
    events: [requests(standIn.apiKey)[request]],
    flags,
    node: [...runner, process.execPath],
  });
  const [{ cpuMs, statusCode } = { cpuMs: 0, statusCode: 0 }] = invocations;
  if (!(statusCode < 300)) throw new Error(`${name} answers ${statusCode} to ${request}`);
  if (codeCache !== expectedCodeCache[name])
    throw new Error(`The code cache of ${name}: ${codeCache}`);
  return { cpuMs, loaded };
};

/** Node's own modules that each operation makes Node.js load up to its first answer. */
export const loadedModules = async (
  contenders: Contenders,
): Promise<Readonly<Record<string, readonly string[]>>> => {
  await using standIn = await startTlsStandIn();
  const rows = coldRequests.map(async (request) => {
    const { loaded } = await coldStart(contenders, standIn, 'absent', request, {
      flags: lambdaFlags,
    });
    return [request, loaded.toSorted()] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
};

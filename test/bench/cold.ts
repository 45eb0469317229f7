import { type ContenderName, type Contenders, contenderNames } from './contenders.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';
import { runLambda } from './lambda-process.ts';
import { type RequestName, requests } from './requests.ts';
import { type Samples, samplesOf } from './samples.ts';

/**
 * How Node.js is started: by Lambda with flags, for 1,024 MiB these (the `bootstrap` of its public Node.js image), for
 * which V8 refuses the code of Node's own modules that was compiled beforehand; and as everybody else does.
 */
export const starts = {
  lambda: [
    '--expose-gc',
    '--max-http-header-size=81920',
    '--max-semi-space-size=51',
    '--max-old-space-size=922',
  ],
  plain: [],
} as const;
export type Start = keyof typeof starts;

/** CPU time in ms from the start of the process, less what a process with an empty handler takes. */
export interface ColdStart {
  readonly name: ContenderName;
  readonly untilFirstAnswer: Samples;
  /** Of this the time after INIT. */
  readonly firstInvocation: Samples;
  readonly residentMb: Samples;
}

export interface ColdStarts {
  /** CPU time in ms of a process with an empty handler. */
  readonly empty: Samples;
  readonly starts: readonly ColdStart[];
}

export const coldRequests = ['getPet', 'createPet', 'listPets'] as const;

const names = contenderNames.filter((name) => name !== 'empty' && name !== 'sdkCall');

/**
 * Starts each contender in a process of its own until its first answer, in front of a DynamoDB stand-in and over TLS,
 * in rounds, one contender after the other, so that whatever else the machine does strikes all of them.
 */
export const measureColdStarts = async (
  contenders: Contenders,
  request: RequestName,
  start: Start,
  rounds: number,
): Promise<ColdStarts> => {
  await using standIn = await DynamodbStandIn.start();
  const run = async (name: ContenderName): Promise<Run> => {
    const { cpuMsAfterInit, invocations, residentBytes } = await runLambda({
      module: contenders[name].moduleFor(request),
      environment: standIn.environment,
      events: [requests(standIn.apiKey)[request]],
      flags: starts[start],
    });
    const [{ cpuMs, statusCode } = { cpuMs: 0, statusCode: 0 }] = invocations;
    if (!(statusCode < 300)) throw new Error(`${name} answers ${statusCode} to ${request}`);
    return { cpuMs, firstMs: cpuMs - cpuMsAfterInit, residentMb: residentBytes / 1e6 };
  };

  const emptyRuns: Run[] = [];
  const runs = new Map<ContenderName, Run[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    emptyRuns.push(await run('empty'));
    for (const [name, done] of runs) done.push(await run(name));
  }
  const empty = samplesOf(emptyRuns.map(({ cpuMs }) => cpuMs));
  const coldStarts = [...runs].map(([name, done]) => ({
    name,
    untilFirstAnswer: samplesOf(done.map(({ cpuMs }) => cpuMs - empty.median)),
    firstInvocation: samplesOf(done.map(({ firstMs }) => firstMs)),
    residentMb: samplesOf(done.map(({ residentMb }) => residentMb)),
  }));
  return { empty, starts: coldStarts };
};

interface Run {
  readonly cpuMs: number;
  readonly firstMs: number;
  readonly residentMb: number;
}

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateApiKey } from '../../lib/contract/api-key.ts';
import type { ContenderName, Contenders } from './contenders.ts';
import { functionEnvironment } from './dynamodb-stand-in.ts';
import { countInstructions, repeatable } from './instructions.ts';
import { type RequestName, requests } from './requests.ts';

/** One invocation of a function that V8 has optimised, in the best of many short runs, with the network stubbed out. */
export interface WarmInvocation {
  readonly name: ContenderName;
  readonly request: RequestName;
  /** Absent where there is no valgrind. */
  readonly instructions: number | undefined;
  readonly cpuMicroseconds: number;
}

const invocationsOfRun = 50;

/** Measures `warmRuns` runs of 50 invocations of each contender after `warmUps` others, in a process of its own. */
export const measureWarmInvocations = async (
  contenders: Contenders,
  { warmUps, warmRuns }: Readonly<Record<'warmUps' | 'warmRuns', number>>,
  countsInstructions: boolean,
): Promise<readonly WarmInvocation[]> => {
  const apiKey = generateApiKey('pets_test');
  const env = { ...functionEnvironment('https://localhost:1'), API_KEY: apiKey };
  const measure = async (name: ContenderName, request: RequestName): Promise<WarmInvocation> => {
    const run = async (runner: readonly string[], flags: readonly string[]) => {
      const [program = '', ...command] = [...runner, process.execPath, ...flags];
      const event = JSON.stringify(requests(apiKey)[request]);
      const counts = [warmUps, warmRuns, invocationsOfRun].map(String);
      const { stdout } = await promisify(execFile)(
        program,
        [...command, join(import.meta.dirname, 'warm-process.ts')].concat(
          contenders[name](request),
          event,
          counts,
        ),
        { env, maxBuffer: 1e8 },
      );
      return Number(stdout.slice(stdout.lastIndexOf('\n') + 1));
    };
    const cpuMicroseconds = await run([], []);
    if (!countsInstructions) return { name, request, cpuMicroseconds, instructions: undefined };
    const counts = await countInstructions((runner) => run(runner, repeatable));
    // Before the runs are the start and the warm-up, after them the end. In all but the best V8 compiles or collects garbage.
    const fewest = Math.min(...counts.slice(-warmRuns - 1, -1));
    return { name, request, cpuMicroseconds, instructions: (fewest * 1e6) / invocationsOfRun };
  };
  return [
    await measure('sdkCall', 'getPet'),
    await measure('service', 'getPet'),
    await measure('sdkCall', 'listPetsOf100'),
    await measure('service', 'listPetsOf100'),
  ];
};

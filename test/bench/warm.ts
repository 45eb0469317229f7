import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateApiKey } from '../../lib/contract/api-key.ts';
import type { ContenderName, Contenders } from './contenders.ts';
import { functionEnvironment } from './dynamodb-stand-in.ts';
import { countWindows, repeatable } from './instructions.ts';
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

const warmNames = ['sdkCall', 'service'] as const satisfies readonly ContenderName[];
const warmRequests = ['getPet', 'listPetsOf100'] as const;

/** Measures `warmRuns` runs of 50 invocations of each contender after `warmUps` others, in a process of its own. */
export const measureWarmInvocations = async (
  contenders: Contenders,
  { warmUps, warmRuns }: Readonly<Record<'warmUps' | 'warmRuns', number>>,
  countsInstructions: boolean,
): Promise<readonly WarmInvocation[]> => {
  const apiKey = generateApiKey('pets_test');
  const rows: WarmInvocation[] = [];
  for (const request of warmRequests) {
    for (const name of warmNames) {
      const run = async (flags: readonly string[], runner: readonly string[]) => {
        const [program = '', ...command] = [...runner, process.execPath, ...flags];
        const { stdout } = await promisify(execFile)(
          program,
          [
            ...[...command, join(import.meta.dirname, 'warm-process.ts')],
            ...[contenders[name].codeFor(request), JSON.stringify(requests(apiKey)[request])],
            ...[`${warmUps}`, `${warmRuns}`, `${invocationsOfRun}`],
          ],
          {
            env: { ...functionEnvironment('https://localhost:1'), API_KEY: apiKey },
            maxBuffer: 1e8,
          },
        );
        return Number(stdout.slice(stdout.lastIndexOf('\n') + 1));
      };
      rows.push({
        name,
        request,
        cpuMicroseconds: await run([], []),
        instructions: countsInstructions
          ? await fewestInstructions((runner) => run(repeatable, runner), warmRuns)
          : undefined,
      });
    }
  }
  return rows;
};

/** Of one invocation in the best run: in others V8 compiles, or collects garbage. */
const fewestInstructions = async (
  run: (runner: readonly string[]) => Promise<unknown>,
  warmRuns: number,
) => {
  const counts = await countWindows(run);
  // Before the runs are the start and the warm-up, after them the end.
  return (Math.min(...counts.slice(-warmRuns - 1, -1)) * 1e6) / invocationsOfRun;
};

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { functionEnvironment } from '../../infra/build/code-caches.ts';
import { generateApiKey } from '../../lib/keys/api-key.ts';
import type { ContenderName, Contenders } from './contenders.ts';
import { countInstructions, repeatable } from './instructions.ts';
import { type RequestName, requests } from './requests.ts';

/**
 * Instructions of one invocation that V8 has optimised, in the best of many short runs, with
 * the network stubbed out.
 */
export interface WarmInvocation {
  readonly name: ContenderName;
  readonly request: RequestName;
  readonly instructions: number;
}

const invocationsOfRun = 50;

/**
 * Counts `warmRuns` runs of 50 invocations of each contender after `warmUps` others, in a process of its
 * own; fewer of a list of 100.
 */
export const measureWarmInvocations = async (
  contenders: Contenders,
  { warmUps, warmRuns }: Readonly<Record<'warmUps' | 'warmRuns', number>>,
): Promise<readonly WarmInvocation[]> => {
  const apiKey = generateApiKey('pets_test');
  const env = { ...functionEnvironment('https://localhost:1'), API_KEY: apiKey };
  const measure = async (name: ContenderName, request: RequestName): Promise<WarmInvocation> => {
    const event = JSON.stringify(requests(apiKey)[request]);
    // V8 optimises the code for a pet sooner where each invocation runs it a hundred times.
    const isLong = request === 'listPetsOf100';
    const before = isLong ? Math.ceil(warmUps / 4) : warmUps;
    const runs = isLong ? Math.ceil(warmRuns / 2) : warmRuns;
    const numbers = [before, runs, invocationsOfRun].map(String);
    const counts = await countInstructions(([valgrind = '', ...options]) => {
      const node = [process.execPath, ...repeatable, join(import.meta.dirname, 'warm-process.ts')];
      const command = [...options, ...node, contenders[name](request), event, ...numbers];
      return promisify(execFile)(valgrind, command, { env, maxBuffer: 1e8 });
    });
    // The first counts are those of the start and the warm-up, and the last one is that of the end. In all
    // runs but the best, V8 compiles or collects garbage.
    const fewest = Math.min(...counts.slice(-runs - 1, -1));
    return { name, request, instructions: (fewest * 1e6) / invocationsOfRun };
  };
  return Promise.all([
    measure('sdkCall', 'getPet'),
    measure('absent', 'getPet'),
    measure('sdkCall', 'listPetsOf100'),
    measure('absent', 'listPetsOf100'),
  ]);
};

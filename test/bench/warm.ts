import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateApiKey } from '../../lib/contract/api-key.ts';
import type { ContenderName, Contenders } from './contenders.ts';
import { functionEnvironment } from './dynamodb-stand-in.ts';
import { countInstructions, repeatable } from './instructions.ts';
import { type RequestName, requests } from './requests.ts';

/** One invocation of a function that V8 has optimised, with the network stubbed out. */
export interface WarmInvocation {
  readonly name: ContenderName;
  readonly request: RequestName;
  /** Absent where there is no valgrind. */
  readonly instructions: number | undefined;
  readonly cpuMicroseconds: number;
}

const warmNames = ['sdkCall', 'service'] as const satisfies readonly ContenderName[];
const warmRequests = ['getPet', 'listPetsOf100'] as const;

/** Measures `warmInvocations` invocations of each contender after `warmUps` others, in a process of its own. */
export const measureWarmInvocations = async (
  contenders: Contenders,
  { warmUps, warmInvocations: measured }: Readonly<Record<'warmUps' | 'warmInvocations', number>>,
  countsInstructions: boolean,
): Promise<readonly WarmInvocation[]> => {
  const apiKey = generateApiKey('pets_test');
  const rows: WarmInvocation[] = [];
  for (const request of warmRequests) {
    for (const name of warmNames) {
      const run = async (count: number, flags: readonly string[], runner: readonly string[]) => {
        const [program = '', ...command] = [...runner, process.execPath, ...flags];
        const { stdout } = await promisify(execFile)(
          program,
          [
            ...[...command, join(import.meta.dirname, 'warm-process.ts')],
            ...[contenders[name].codeFor(request), JSON.stringify(requests(apiKey)[request])],
            ...[`${warmUps}`, `${count}`],
          ],
          {
            env: { ...functionEnvironment('https://localhost:1'), API_KEY: apiKey },
            maxBuffer: 1e8,
          },
        );
        return Number(stdout.slice(stdout.lastIndexOf('\n') + 1));
      };
      const millions = (count: number) =>
        countInstructions((runner) => run(count, repeatable, runner));
      rows.push({
        name,
        request,
        cpuMicroseconds: await run(measured, [], []),
        // What comes before the measured invocations is the same in both processes.
        instructions: countsInstructions
          ? (((await millions(measured)) - (await millions(0))) * 1e6) / measured
          : undefined,
      });
    }
  }
  return rows;
};

import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { gzipSync } from 'node:zlib';
import { projectDirectory } from '../../infra/project-directory.ts';
import {
  type ColdCpu,
  type ColdInstructions,
  coldRequests,
  loadedModules,
  measureColdCpu,
  measureColdInstructions,
} from './cold.ts';
import {
  bytesBySource,
  type ContenderName,
  type Contenders,
  contenderNames,
  functionNames,
} from './contenders.ts';
import { hasValgrind } from './instructions.ts';
import type { RequestName } from './requests.ts';
import { measureWarmInvocations, type WarmInvocation } from './warm.ts';

/** A bundle as Lambda gets it, in bytes. */
export interface Bundle {
  readonly name: ContenderName;
  /** The function that it is for, such as `get-pet`. */
  readonly functionName: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** What `npm run bench:gate` compares a change with. */
export interface GatedResults {
  /** Empty where there is no valgrind. */
  readonly coldInstructions: readonly ColdInstructions[];
  readonly bundles: readonly Bundle[];
  /** The bytes that each source file adds to a function's bundle. */
  readonly bytesBySource: Awaited<ReturnType<typeof bytesBySource>>;
  /** Node's own modules that a cold start of each operation loads. */
  readonly loadedModules: Awaited<ReturnType<typeof loadedModules>>;
}

/** Everything that one run has measured. */
export interface Results extends GatedResults {
  readonly machine: string;
  readonly node: string;
  readonly coldCpu: readonly ColdCpu[];
  readonly warm: readonly WarmInvocation[];
  /** Whether each operation costs the requests and units of DynamoDB that test/service/dynamodb-cost.test.ts promises. */
  readonly costsAsPromised: boolean;
}

export interface Effort {
  /** The requests whose cold instructions are counted, and how often. */
  readonly coldRequests: readonly RequestName[];
  readonly instructionRuns: number;
  readonly cpuRounds: number;
  readonly warmUps: number;
  readonly warmRuns: number;
}

/** Measures everything; `progress` gets a line for each step. */
export const measure = async (
  contenders: Contenders,
  effort: Effort,
  progress: (step: string) => void,
): Promise<Results> => {
  const countsInstructions = await hasValgrind();
  if (!countsInstructions) progress('valgrind is not installed: only CPU time is measured');
  const names = contenderNames.filter((name) => name !== 'empty');
  progress('Cold starts');
  const gated = await measureGated(contenders, countsInstructions ? names : [], effort);
  progress('CPU time of cold starts');
  const coldCpu = await measureColdCpu(contenders, effort.cpuRounds);
  progress('Warm invocations');
  const warm = await measureWarmInvocations(contenders, effort, countsInstructions);
  progress('The cost in DynamoDB');
  return {
    machine: `${cpus()[0]?.model.trim()}, ${availableParallelism()} processors`,
    node: process.version,
    ...gated,
    coldCpu,
    warm,
    costsAsPromised: passes('test/service/dynamodb-cost.test.ts'),
  };
};

const passes = (test: string): boolean => {
  const vitest = `node_modules/vitest/vitest.mjs run --config test/vitest.config.ts ${test}`;
  return spawnSync(process.execPath, vitest.split(' '), { cwd: projectDirectory }).status === 0;
};

/** Measures what the gate compares. Counts no instructions if `names` is empty. */
export const measureGated = async (
  contenders: Contenders,
  names: readonly ContenderName[],
  { coldRequests: measured, instructionRuns }: Pick<Effort, 'coldRequests' | 'instructionRuns'>,
): Promise<GatedResults> => ({
  coldInstructions: await measureColdInstructions(contenders, names, measured, instructionRuns),
  bundles: await measureBundles(contenders, names),
  bytesBySource: await bytesBySource(),
  loadedModules: await loadedModules(contenders),
});

const measureBundles = async (
  contenders: Contenders,
  names: readonly ContenderName[],
): Promise<readonly Bundle[]> => {
  const rows = [...new Set<ContenderName>(['service', ...names])].flatMap((name) =>
    coldRequests.map((request) => ({
      name,
      functionName: functionNames[request],
      file: contenders[name].codeFor(request),
    })),
  );
  const unrouted = contenders.service.codeFor('getPet').replaceAll('get-pet', 'unrouted');
  return Promise.all(
    [...rows, { name: 'service' as const, functionName: 'unrouted', file: unrouted }].map(
      async ({ file, ...row }) => {
        const code = await readFile(file);
        return { ...row, bytes: code.length, gzipBytes: gzipSync(code, { level: 9 }).length };
      },
    ),
  );
};

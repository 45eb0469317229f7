import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleDirectory } from '../../infra/lambda/bundle-functions.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import {
  type ColdCpu,
  type ColdInstructions,
  loadedModules,
  measureColdCpu,
  measureColdInstructions,
} from './cold.ts';
import {
  bytesBySource,
  type ContenderName,
  type Contenders,
  contenderNames,
} from './contenders.ts';
import { hasValgrind } from './instructions.ts';
import type { RequestName } from './requests.ts';
import { measureWarmInvocations, type WarmInvocation } from './warm.ts';

/** The bundle of a function, such as `get-pet`. */
interface Bundle {
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
  progress('Cold starts');
  const counted = countsInstructions ? contenderNames.filter((name) => name !== 'empty') : [];
  const { coldRequests, instructionRuns } = effort;
  const gated = await measureGated(contenders, counted, coldRequests, instructionRuns);
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
  const words = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/vitest.config.ts',
    test,
  ];
  return spawnSync(process.execPath, words, { cwd: projectDirectory }).status === 0;
};

/** Measures what the gate compares. Counts no instructions if `names` is empty. */
export const measureGated = async (
  contenders: Contenders,
  names: readonly ContenderName[],
  requests: readonly RequestName[],
  runs: number,
): Promise<GatedResults> => ({
  coldInstructions: await measureColdInstructions(contenders, names, requests, runs),
  bundles: await measureBundles(),
  bytesBySource: await bytesBySource(),
  loadedModules: await loadedModules(contenders),
});

const measureBundles = (): Promise<readonly Bundle[]> =>
  Promise.all(
    ['get-pet', 'create-pet', 'list-pets', 'unrouted'].map(async (functionName) => {
      const code = await readFile(join(bundleDirectory(functionName), `${functionName}.cjs`));
      const gzipBytes = gzipSync(code, { level: 9 }).length;
      return { functionName, bytes: code.length, gzipBytes };
    }),
  );

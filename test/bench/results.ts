import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { codeCacheFile } from '../../infra/build/entry-module.ts';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import * as cold from './cold.ts';
import { bytesBySource, type ContenderName, type Contenders } from './contenders.ts';
import { hasValgrind } from './instructions.ts';
import type { RequestName } from './requests.ts';
import { measureWarmInvocations, type WarmInvocation } from './warm.ts';

/**
 * What `npm run bench:gate` compares a change with; `coldInstructions` is empty where there is no valgrind.
 */
export type GatedResults = Awaited<ReturnType<typeof measureGated>>;

/** Everything that one run has measured. */
export interface Results extends GatedResults {
  readonly machine: string;
  readonly node: string;
  readonly coldCpu: readonly cold.ColdCpu[];
  readonly warm: readonly WarmInvocation[];
  /** Whether test/service/dynamodb-cost.test.ts passes. */
  readonly costsAsPromised: boolean;
}

export interface Effort {
  /** The contenders and requests whose cold instructions are counted. */
  readonly counted: readonly ContenderName[];
  readonly coldRequests: readonly RequestName[];
  readonly cpuRounds: number;
  readonly warmUps: number;
  readonly warmRuns: number;
}

/** Measures everything; `progress` gets a line for each step. */
export const measure = async (
  contenders: Readonly<Record<'counted' | 'timed', Contenders>>,
  effort: Effort,
  progress: (step: string) => void,
): Promise<Results> => {
  const countsInstructions = await hasValgrind();
  if (!countsInstructions) progress('valgrind is not installed: only CPU time is measured');
  progress('Cold starts');
  const { coldRequests } = effort;
  const counted = countsInstructions ? effort.counted : [];
  const gated = await measureGated(contenders.counted, counted, coldRequests);
  progress('CPU time of cold starts');
  const coldCpu = await cold.measureColdCpu(contenders.timed, effort.cpuRounds);
  progress('Warm invocations');
  const warm = countsInstructions ? await measureWarmInvocations(contenders.timed, effort) : [];
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
) => ({
  coldInstructions: await cold.measureColdInstructions(contenders, names, requests),
  bundles: await measureBundles(contenders),
  bytesBySource: await bytesBySource(),
  loadedModules: await cold.loadedModules(contenders),
});

/** The size of each function's bundle and code cache. */
const measureBundles = async (contenders: Contenders) => {
  const variant = dirname(dirname(contenders.hit('getPet')));
  const names = ['get-pet', 'create-pet', 'list-pets', 'unrouted'];
  return Promise.all(
    names.map(async (functionName) => {
      const directory = join(variant, functionName);
      const code = await readFile(join(directory, `${functionName}.cjs`), 'utf8');
      const cache = await readFile(join(directory, codeCacheFile(functionName, code)));
      return {
        functionName,
        bytes: Buffer.byteLength(code),
        gzipBytes: gzipSync(code, { level: 9 }).length,
        cacheBytes: cache.length,
        cacheGzipBytes: gzipSync(cache, { level: 9 }).length,
      };
    }),
  );
};

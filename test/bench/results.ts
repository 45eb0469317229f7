import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ColdStarts, coldRequests, measureColdStarts, type Start } from './cold.ts';
import { type ContenderName, type Contenders, contenderNames } from './contenders.ts';
import { type Cost, measureCosts } from './cost.ts';
import { requestNames } from './requests.ts';
import { measureWarmInvocations, type WarmInvocation } from './warm.ts';

/** A bundle as Lambda gets it, in bytes. */
export interface Bundle {
  readonly name: ContenderName;
  readonly request: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** Everything that one run has measured. */
export interface Results {
  readonly machine: string;
  readonly node: string;
  /** Version of each package that takes part. */
  readonly versions: Readonly<Record<string, string>>;
  readonly coldRounds: number;
  readonly cold: readonly (ColdStarts & { readonly start: Start; readonly request: string })[];
  readonly warmRounds: number;
  readonly warm: readonly {
    readonly request: string;
    readonly invocations: readonly WarmInvocation[];
  }[];
  readonly bundles: readonly Bundle[];
  readonly costs: readonly Cost[];
}

export interface Effort {
  readonly coldRounds: number;
  readonly warmRounds: number;
  /** CPU time for which a function is invoked, once to warm up and once to be measured. */
  readonly warmMs: number;
  /** Pets in the catalogue whose cost is measured. */
  readonly catalogueSizes: readonly number[];
}

/** Measures everything; `progress` gets a line for each step. */
export const measure = async (
  contenders: Contenders,
  effort: Effort,
  progress: (step: string) => void,
): Promise<Results> => {
  const { coldRounds, warmRounds, warmMs, catalogueSizes } = effort;
  const [processor] = cpus();
  const cold = [];
  for (const [start, requests] of [
    ['lambda', coldRequests],
    ['plain', ['getPet']],
  ] as const) {
    for (const request of requests) {
      progress(`Cold starts: ${request}, Node.js as ${start}`);
      const starts = await measureColdStarts(contenders, request, start, coldRounds);
      cold.push({ start, request, ...starts });
    }
  }
  const warm = [];
  for (const request of requestNames) {
    progress(`Warm invocations: ${request}`);
    const invocations = await measureWarmInvocations(contenders, request, warmRounds, warmMs);
    warm.push({ request, invocations });
  }
  progress('Bytes, and the cost in DynamoDB');
  return {
    machine: `${processor?.model.trim()}, ${availableParallelism()} processors, shared`,
    node: process.version,
    versions: await measuredVersions(),
    coldRounds,
    cold,
    warmRounds,
    warm,
    bundles: await measureBundles(contenders),
    costs: await measureCosts(catalogueSizes),
  };
};

const measureBundles = async (contenders: Contenders): Promise<readonly Bundle[]> =>
  Promise.all(
    contenderNames.flatMap((name) =>
      coldRequests.map(async (request) => {
        const code = await readFile(contenders[name].codeFor(request));
        const gzipBytes = gzipSync(code, { level: 9 }).length;
        return { name, request, bytes: code.length, gzipBytes };
      }),
    ),
  );

const packages = [
  '@middy/core',
  '@aws-sdk/client-dynamodb',
  'esbuild',
  'hono',
  '@aws-lambda-powertools/event-handler',
  'express',
  '@codegenie/serverless-express',
  'fastify',
  '@fastify/aws-lambda',
];

/** All are pinned, so the two package.json say what is installed. */
const measuredVersions = async () => {
  const manifestIn = async (...path: string[]) =>
    JSON.parse(await readFile(join(import.meta.dirname, ...path, 'package.json'), 'utf8'));
  const project = await manifestIn('..', '..');
  const peers = await manifestIn('.');
  const versions = { ...project.dependencies, ...project.devDependencies, ...peers.dependencies };
  return Object.fromEntries(packages.map((name) => [name, `${versions[name]}`]));
};

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { generateApiKey } from '../../lib/contract/api-key.ts';
import type { ContenderName, Contenders } from './contenders.ts';
import { functionEnvironment } from './dynamodb-stand-in.ts';
import { type RequestName, requests } from './requests.ts';
import { type Samples, samplesOf } from './samples.ts';

/** CPU time of one invocation of a function that has run for a while, in µs, with the network stubbed out. */
export interface WarmInvocation {
  readonly name: ContenderName;
  readonly whole: Samples;
  /** Without the SDK as well, so that the framework and the function's own code are left. */
  readonly alone: Samples | undefined;
}

const names: readonly ContenderName[] = [
  'bare',
  'sdkCall',
  'service',
  'hono',
  'powertools',
  'express',
  'fastify',
];

/** Invokes each contender in processes of their own, in rounds, for `ms` of CPU time once V8 had as long to optimise it. */
export const measureWarmInvocations = async (
  contenders: Contenders,
  request: RequestName,
  rounds: number,
  ms: number,
): Promise<readonly WarmInvocation[]> => {
  const apiKey = generateApiKey('pets_test');
  const event = JSON.stringify(requests(apiKey)[request]);
  const environment = { ...functionEnvironment('https://localhost:1'), API_KEY: apiKey };
  const microseconds = async (module: string) => {
    const child = fork(join(import.meta.dirname, 'warm-process.ts'), [module, event, `${ms}`], {
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error(`${module} could not be measured`);
    });
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return z.number().parse(message);
  };

  const runs = new Map<ContenderName, Runs>(names.map((name) => [name, { whole: [], alone: [] }]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { whole, alone }] of runs) {
      whole.push(await microseconds(contenders[name].codeFor(request)));
      // The bare handler has no SDK to be without.
      if (name !== 'bare') alone.push(await microseconds(contenders[name].alone(request)));
    }
  }
  return [...runs].map(([name, { whole, alone }]) => ({
    name,
    whole: samplesOf(whole),
    alone: alone.length > 0 ? samplesOf(alone) : undefined,
  }));
};

interface Runs {
  readonly whole: number[];
  readonly alone: number[];
}

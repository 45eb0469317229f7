import { join } from 'node:path';

/** Mutation testing of pets, keys, requests and errors. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  mutate: [
    'lib/{pets,keys,http}/*.ts',
    'lib/contract/{errors,exact-json,requests}.ts',
    'lib/aws/get-item.ts',
  ],
  plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'survivors-reporter.ts')],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 30_000,
  // Stryker would rewrite tsconfig.json through the API of the TypeScript compiler, which
  // TypeScript 7 doesn't have.
  tsconfigFile: '',
  tempDirName: '.build/stryker',
  ignorePatterns: ['/.build', '/cdk.out', '/.local'],
  reporters: ['progress-append-only', 'clear-text', 'survivors'],
  clearTextReporter: { reportTests: false, reportMutants: false },
  allowConsoleColors: false,
};

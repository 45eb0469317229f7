/** Mutation testing of pets, keys, requests and errors. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  mutate: [
    'lib/{pets,keys,http}/*.ts',
    'lib/contract/{errors,exact-json,requests}.ts',
    'lib/aws/get-item.ts',
  ],
  plugins: ['@stryker-mutator/vitest-runner'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 30_000,
  // Stryker would rewrite tsconfig.json through the API of the TypeScript compiler, which
  // TypeScript 7 doesn't have.
  tsconfigFile: '',
  tempDirName: '.build/stryker',
  ignorePatterns: ['/.build', '/cdk.out', '/.local'],
  // The run fails below this percentage of mutants, half a point below the score of the last full run. Some
  // mutants change nothing that a test can notice, and some cause an error, which doesn't count.
  thresholds: { break: 95.7 },
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { reportTests: false, logTests: false },
  allowConsoleColors: false,
};

/** Mutation testing of keys, bodies, errors, log and pets. It takes 20 minutes or more on two cores. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  mutate: [
    'lib/keys/{api-key-record,authenticate,find-api-key}.ts',
    'lib/contract/{api-key,errors,exact-json,requests}.ts',
    'lib/http/{bearer-auth,body-limits,exact-integers,error-responses,observability}.ts',
    'lib/telemetry/telemetry.ts',
    'lib/pets/{cursor,creation,pet-store}.ts',
    'lib/aws/get-item.ts',
  ],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 30_000,
  // Stryker would rewrite tsconfig.json through the API of the TypeScript compiler, which
  // TypeScript 7 doesn't have.
  tsconfigFile: '',
  tempDirName: '.build/stryker',
  ignorePatterns: ['/.build', '/cdk.out', '/.local'],
  reporters: ['clear-text', 'json'],
  jsonReporter: { fileName: '.build/mutation.json' },
  clearTextReporter: { allowColor: false, reportTests: false },
};

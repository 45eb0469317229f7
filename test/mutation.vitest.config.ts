import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** Of all tests those that load the modules into their own process, for a mutant reaches no bundle. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: [
      'api-key',
      'cursor',
      'exactly-once',
      'exactly-once-model',
      'json',
      'keys',
      'lifecycle',
      'observability',
      'paging',
      'request-body',
      'unexpected-errors',
    ].map((name) => `test/${name}.test.ts`),
  },
});

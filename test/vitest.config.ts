import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: join(import.meta.dirname, '..'),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Most of them wait for a fault, a process or a deadline; few compute.
    maxWorkers: 4,
    restoreMocks: true,
    unstubEnvs: true,
    // What hangs fails; what a busy machine slows down does not.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

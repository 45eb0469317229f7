import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { acceptanceWorkers } from '../infra/commands/preflight/parallel-requests.ts';

export default defineConfig({
  root: join(import.meta.dirname, '..'),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Most tests wait for a fault, a process or a deadline; few compute.
    maxWorkers: acceptanceWorkers,
    restoreMocks: true,
    unstubEnvs: true,
    // Long enough for a busy machine: only a test that hangs fails.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

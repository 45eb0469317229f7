import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Starts the longest file first; Vitest itself orders files by size until it has measured them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith('npm-start.test.ts');
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => Number(isLongest(other)) - Number(isLongest(one)));
  }
}

export default defineConfig({
  root: join(import.meta.dirname, '..'),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    sequence: { sequencer: LongestFirst },
    // Most of them wait for a fault, a process or a deadline; few compute.
    maxWorkers: 4,
    restoreMocks: true,
    unstubEnvs: true,
    // What hangs fails; what a busy machine slows down does not.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

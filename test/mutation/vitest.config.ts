import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../vitest.config.ts';

/** Of all tests those that load the modules into their own process, for a mutant reaches no bundle. The quick ones first. */
const include = [
  'test/json.test.ts',
  'test/mutation/acceptance.ts',
  'test/request-body.test.ts',
  'test/lifecycle.test.ts',
  'test/unexpected-errors.test.ts',
  'test/exactly-once.test.ts',
  'test/api-key.test.ts',
  'test/cursor.test.ts',
  'test/paging.test.ts',
  'test/keys.test.ts',
  'test/exactly-once-model.test.ts',
  'test/observability.test.ts',
];

/** Vitest would run the longest first; a mutant is done with at the first test that fails. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      include.findIndex((path) => moduleId.endsWith(path));
    return files.toSorted((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    globalSetup: 'test/mutation/global-setup.ts',
    include,
    sequence: { sequencer: InOrder },
  },
});

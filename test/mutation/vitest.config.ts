import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../vitest.config.ts';

/** Of all tests those that load the modules into their own process, for a mutant reaches no bundle. The quick ones first. */
const include = [
  'test/service/json.test.ts',
  'test/mutation/acceptance.ts',
  'test/service/request-body.test.ts',
  'test/service/authorization.test.ts',
  'test/service/lifecycle.test.ts',
  'test/service/unexpected-errors.test.ts',
  'test/service/exactly-once.test.ts',
  'test/service/api-key.test.ts',
  'test/service/cursor.test.ts',
  'test/service/paging.test.ts',
  'test/service/keys.test.ts',
  'test/service/exactly-once-model.test.ts',
  'test/service/observability.test.ts',
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

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../vitest.config.ts';

/**
 * The tests that load the modules into their own process, because a mutant reaches no
 * bundle; quick ones first.
 */
const include = [
  'test/service/json.test.ts',
  'test/service/requests.test.ts',
  'test/service/api-key.test.ts',
  'test/service/recent-entries.test.ts',
  'test/service/cursor.test.ts',
  'test/mutation/acceptance.ts',
  'test/service/request-body.test.ts',
  'test/service/lifecycle.test.ts',
  'test/service/unexpected-errors.test.ts',
  'test/service/cors.test.ts',
  'test/service/dynamodb-cost.test.ts',
  'test/service/observability.test.ts',
  'test/service/warm-up.test.ts',
  'test/service/stored-ids.test.ts',
  'test/service/paging.test.ts',
  'test/commands/keys-cli.test.ts',
  'test/service/exactly-once-model.test.ts',
  'test/service/secrets.test.ts',
  'test/service/keys.test.ts',
  'test/service/faults.test.ts',
];

/**
 * The quick ones first: the first test that fails ends the run of a mutant. Vitest
 * would start with the longest.
 */
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
    include,
    env: { RUNS: 'few' },
    sequence: { sequencer: InOrder },
  },
});

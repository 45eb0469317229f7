import { defineConfig } from 'vitest/config';
import base from '../vitest.config.ts';

/** The configuration of the checks that start services, databases and builds of their own. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/start/*.check.ts'] },
});

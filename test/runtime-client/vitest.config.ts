import { defineConfig } from 'vitest/config';
import base, { slowLimits } from '../vitest.config.ts';

/** The configuration of the check that needs the packages of this folder. */
export default defineConfig({
  ...base,
  test: { ...base.test, ...slowLimits, include: ['test/runtime-client/runtime-client.slow.ts'] },
});

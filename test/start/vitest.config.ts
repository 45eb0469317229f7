import { defineConfig } from 'vitest/config';
import base from '../vitest.config.ts';

/** Of the check of `npm start` only, which starts all that it needs. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/start/npm-start.check.ts'], globalSetup: [] },
});

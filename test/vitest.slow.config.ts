import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/**
 * The configuration of the slow tests, which are no part of `npm test`: they start services, browsers,
 * command lines and builds of their own.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/{client,commands,infra,local,project,start}/*.slow.ts'],
  },
});

import { defineConfig } from 'vitest/config';
import base, { slowLimits } from './vitest.config.ts';

/** Tests of some folders. Those of a later group start when all of an earlier group have ended. */
const project = (name: string, folders: string, groupOrder: number) => ({
  extends: true as const,
  test: { name, include: [`test/${folders}/*.slow.ts`], sequence: { groupOrder } },
});

/**
 * The configuration of the slow tests, which are no part of `npm test`: they start services, browsers,
 * command lines and builds of their own.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [],
    ...slowLimits,
    projects: [
      project('slow', '{client,commands,infra,local,project}', 0),
      // By themselves, because each waits for a limited time until its service has started.
      project('start', 'start', 1),
    ],
  },
});

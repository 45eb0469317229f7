import type { TestProject } from 'vitest/node';
import { freePort } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { type StackDefinition, synthesise } from '../../infra/local/stack-definition.ts';
import startAll from '../support/global-setup.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The routes of the stack, and the functions that they lead to. */
    stack: Pick<StackDefinition, 'api' | 'functions'>;
  }
}

/** Starts what all tests need, but lets the acceptance tests ask a gateway that `acceptance.ts` starts beside them. */
export default async function setup(project: TestProject) {
  const stop = await startAll(project);
  const { api, functions } = await synthesise();
  project.provide('stack', { api, functions });
  project.provide('baseAddress', `http://127.0.0.1:${await freePort()}/${api.stageName}`);
  return stop;
}

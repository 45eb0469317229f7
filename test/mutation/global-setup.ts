import type { TestProject } from 'vitest/node';
import { freePort } from '../../infra/local/dynamodb/dynamodb-local.ts';
import startAll from '../support/global-setup.ts';

/**
 * Starts what all tests need, but sends the acceptance tests to the gateway that
 * `acceptance.ts` starts on a free port.
 */
export default async function setup(project: TestProject) {
  const stop = await startAll(project);
  const { pathname } = new URL(project.getProvidedContext().baseAddress);
  project.provide('baseAddress', `http://127.0.0.1:${await freePort()}${pathname}`);
  return stop;
}

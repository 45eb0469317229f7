import type { TestProject } from 'vitest/node';
import { freePort } from '../../infra/local/dynamodb/dynamodb-local.ts';
import type { RestApiDefinition } from '../../infra/local/gateway/rest-api-definition.ts';
import { synthesise } from '../../infra/local/stack-definition.ts';
import startAll from '../support/global-setup.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The routes of the stack. */
    restApi: RestApiDefinition;
    /** Names of the bundles of the functions, by logical id. */
    bundleNames: ReadonlyMap<string, string>;
  }
}

/** Starts what all tests need, but lets the acceptance tests ask a gateway that `acceptance.ts` starts beside them. */
export default async function setup(project: TestProject) {
  const stop = await startAll(project);
  const { api, functions } = await synthesise();
  project.provide('restApi', api);
  project.provide(
    'bundleNames',
    new Map([...functions].map(([id, { bundleName }]) => [id, bundleName])),
  );
  project.provide('baseAddress', `http://127.0.0.1:${await freePort()}/${api.stageName}`);
  return stop;
}

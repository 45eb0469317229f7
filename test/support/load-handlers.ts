import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { byOperation } from '../../infra/settings/operations.ts';
import { operations } from '../../lib/contract/operations.ts';
import type { OperationContext } from '../../lib/http/operation-request.ts';

export type Handler = (
  event: APIGatewayProxyEvent,
  context: OperationContext,
) => Promise<APIGatewayProxyResult>;

/** Every function of the API. */
export const handlerNames = [...operations.map(({ name }) => name), 'unrouted'] as const;
export type HandlerName = (typeof handlerNames)[number];
export type Handlers = Readonly<Record<HandlerName, Handler>>;

/** How the handler of a bundle is loaded. */
export type Load = (bundle: string) => Promise<{ readonly handler: Handler }>;

const fromSources: Load = (bundle) => import(`../../functions/${bundle}.ts`);

/** The handlers as they are deployed. Mutants are only in the sources. */
export const fromBundles: Load = async (bundle) =>
  process.env['RUNS'] === 'few'
    ? fromSources(bundle)
    : createRequire(import.meta.url)(join(bundleDirectory(bundle), `${bundle}.cjs`));

/** Loads the handlers, which read the environment variables as they are now. */
export const loadHandlers = async (load = fromSources): Promise<Handlers> => {
  const loaded = new Map<HandlerName, Handler>();
  for (const name of handlerNames) loaded.set(name, (await load(bundleName(name))).handler);
  const handlerOf = (name: HandlerName): Handler => {
    const handler = loaded.get(name);
    if (!handler) throw new Error(`${name} has no handler`);
    return handler;
  };
  return { ...byOperation(({ name }) => handlerOf(name)), unrouted: handlerOf('unrouted') };
};

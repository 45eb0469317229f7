import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import * as v from 'valibot';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { bundleName, functionNames } from '../../infra/settings/names.ts';
import type { FunctionName } from '../../lib/contract/routes.ts';

/**
 * A handler as Lambda calls it. It is declared as a method, whose parameters may be narrower, because the
 * middleware of a handler adds to the event and the context what the handler reads of them besides.
 */
export type Handler = {
  call(event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult>;
}['call'];

export type Handlers = Readonly<Record<FunctionName, Handler>>;

/** How the handler of a bundle is loaded. */
export type Load = (bundle: string) => Promise<{ readonly handler: Handler }>;

const fromSources: Load = (bundle) => import(`../../functions/${bundle}.ts`);

/** The handlers as they are deployed. */
export const fromBundles: Load = async (bundle) =>
  createRequire(import.meta.url)(join(bundleDirectory(bundle), `${bundle}.cjs`));

/** Loads the handlers, which read the environment variables as they are now. */
export const loadHandlers = async (load = fromSources): Promise<Handlers> => {
  const handlers: Record<string, unknown> = {};
  for (const name of functionNames) handlers[name] = (await load(bundleName(name))).handler;
  return v.parse(AllHandlers, handlers);
};

const AllHandlers = v.object(
  v.entriesFromList(
    functionNames,
    v.custom<Handler>((value) => typeof value === 'function'),
  ),
);

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import type { OperationContext } from '../../lib/http/operation-request.ts';

export type Handler = (
  event: APIGatewayProxyEvent,
  context: OperationContext,
) => Promise<APIGatewayProxyResult>;

export type HandlerName = 'listPets' | 'createPet' | 'getPet' | 'unrouted';
export type Handlers = Readonly<Record<HandlerName, Handler>>;

/** How the handler of a bundle is loaded. */
export type Load = (bundle: string) => Promise<{ readonly handler: Handler }>;

const fromSources: Load = (bundle) => import(`../../functions/${bundle}.ts`);

/** The handlers as they are deployed. */
export const fromBundles: Load = async (bundle) =>
  createRequire(import.meta.url)(join(bundleDirectory(bundle), `${bundle}.cjs`));

/** Loads the handlers, which read the environment variables as they are now. */
export const loadHandlers = async (load = fromSources): Promise<Handlers> => ({
  listPets: (await load('list-pets')).handler,
  createPet: (await load('create-pet')).handler,
  getPet: (await load('get-pet')).handler,
  unrouted: (await load('unrouted')).handler,
});

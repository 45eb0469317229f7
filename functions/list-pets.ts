import { operation } from '../lib/http/chain.ts';
import { json, nextLink } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/authenticate.ts';
import { definition } from '../lib/operations/list-pets.ts';
import * as pets from '../lib/pets/pet-store.ts';

/**
 * Handles `GET /pets`: returns one page of pets, optionally of one status, with a `Link` to the next page.
 */
export const handler = operation(definition).handler(async (event, context) => {
  const page = await pets.list(context.query, context);
  return json(definition.successStatus, page.pets, nextLink(event, context.query, page.nextCursor));
});

/** Lambda awaits this in its INIT phase. */
export const initialise = warmUp;

import { operationChain } from '../lib/http/chain.ts';
import { nextLink, success } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/authenticate.ts';
import { definition } from '../lib/operations/list-pets.ts';
import * as pets from '../lib/pets/pet-store.ts';

/**
 * Handles `GET /pets`: returns one page of pets, optionally of one status, with a `Link` to the next page.
 */
export const handler = operationChain(definition).handler(async (event, context) => {
  const { query } = event.input;
  const page = await pets.list(query, context);
  return success(definition, page.pets, nextLink(event, query, page.nextCursor));
});

/** Lambda awaits this in its INIT phase. */
export const initialise = warmUp;

import { listPets } from '../lib/contract/operations.ts';
import { listPetsQueryOf } from '../lib/contract/requests.ts';
import { nextLink } from '../lib/http/link.ts';
import { operation } from '../lib/http/operation.ts';
import { queryOf } from '../lib/http/query.ts';
import { json } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/warm-up.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** `GET /pets`: returns one page of pets, optionally of one status, with a `Link` to the next page. */
export const handler = operation(listPets).handler(async (event, context) => {
  const query = listPetsQueryOf(queryOf(event));
  const page = await pets.list(query, context);
  return json(200, page.pets, nextLink(event, query, page.nextCursor));
});

/** Awaited in Lambda's INIT phase. */
export const initialise = warmUp;

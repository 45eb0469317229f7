import { errors } from '../lib/contract/errors.ts';
import { operationChain } from '../lib/http/chain.ts';
import { success } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/authenticate.ts';
import { definition } from '../lib/operations/get-pet.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** Handles `GET /pets/{petId}`: returns one pet, or 404 for an unknown or invalid id. */
export const handler = operationChain(definition).handler(async ({ input }, context) => {
  const pet = await pets.get(input.path.petId, context);
  if (!pet) throw errors.notFound();
  return success(definition, pet);
});

/** Lambda awaits this in its INIT phase. */
export const initialise = warmUp;

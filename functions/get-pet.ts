import { errors } from '../lib/contract/errors.ts';
import { parsePetId } from '../lib/contract/pet.ts';
import { operation } from '../lib/http/chain.ts';
import { json } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/authenticate.ts';
import { definition } from '../lib/operations/get-pet.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** Handles `GET /pets/{petId}`: returns one pet, or 404 for an unknown or invalid id. */
export const handler = operation(definition).handler(async (event, context) => {
  const id = parsePetId(event.pathParameters?.['petId']);
  const pet = id && (await pets.get(id, context));
  if (!pet) throw errors.notFound();
  return json(definition.successStatus, pet);
});

/** Lambda awaits this in its INIT phase. */
export const initialise = warmUp;

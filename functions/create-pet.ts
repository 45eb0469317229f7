import { idempotencyKeyOf } from '../lib/http/idempotency-key.ts';
import { json } from '../lib/http/json.ts';
import { operation } from '../lib/http/operation.ts';
import { NoQuery, parse, queryOf } from '../lib/http/parse.ts';
import { warmUp } from '../lib/keys/find-api-key.ts';
import { createPet } from '../lib/operations.ts';
import { NewPet } from '../lib/pets/pet.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** `POST /pets`: adds a pet, at most once per Idempotency-Key. */
export const handler = operation(createPet).handler(async (event, { owner, signal }) => {
  parse(NoQuery, queryOf(event));
  const newPet = parse(NewPet, event.body);
  const pet = await pets.create(newPet, { owner, key: idempotencyKeyOf(event) }, signal);
  return json(201, pet);
});

/** Awaited in Lambda's INIT phase. */
export const initialise = warmUp;

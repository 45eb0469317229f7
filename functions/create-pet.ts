import { operation } from '../lib/http/chain.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { idempotencyKeyOf } from '../lib/http/parameters.ts';
import { json } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/authenticate.ts';
import { definition } from '../lib/operations/create-pet.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** Handles `POST /pets`: adds a pet, or returns the one that its Idempotency-Key has added. */
export const handler = operation(definition)
  .use(jsonBody(definition.body.NewPet))
  .handler(async (event, context) => {
    const scope = { owner: context.owner, key: idempotencyKeyOf(event) };
    const { pet, isReplay } = await pets.create(event.body, scope, context);
    return json(definition.successStatus, pet, isReplay ? { 'Idempotent-Replayed': 'true' } : {});
  });

/** Lambda awaits this in its INIT phase. */
export const initialise = warmUp;

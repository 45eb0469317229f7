import { operationChain } from '../lib/http/chain.ts';
import { jsonBody } from '../lib/http/json-body.ts';
import { success } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/authenticate.ts';
import { definition } from '../lib/operations/create-pet.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** Handles `POST /pets`: adds a pet, or returns the one that its Idempotency-Key has added. */
export const handler = operationChain(definition, jsonBody(definition.input.body)).handler(
  async ({ input }, context) => {
    const scope = { owner: context.owner, key: input.headers['Idempotency-Key'] };
    const { pet, isReplay } = await pets.create(input.body, scope, context);
    return success(definition, pet, isReplay ? { 'Idempotent-Replayed': 'true' } : {});
  },
);

/** Lambda awaits this in its INIT phase. */
export const initialise = warmUp;

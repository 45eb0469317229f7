import httpJsonBodyParser from '@middy/http-json-body-parser';
import { createPet } from '../lib/contract/operations.ts';
import { newPetOf } from '../lib/contract/requests.ts';
import { bodyLimits } from '../lib/http/body-limits.ts';
import { exactIntegers } from '../lib/http/exact-integers.ts';
import { idempotencyKeyOf } from '../lib/http/idempotency-key.ts';
import { operation } from '../lib/http/operation.ts';
import { refuseQuery } from '../lib/http/query.ts';
import { json } from '../lib/http/response.ts';
import { warmUp } from '../lib/keys/warm-up.ts';
import * as pets from '../lib/pets/pet-store.ts';

/** `POST /pets`: adds a pet, at most once per Idempotency-Key. */
export const handler = operation(createPet)
  .use(bodyLimits())
  .use(httpJsonBodyParser({ disableContentTypeCheck: true }))
  .use(exactIntegers())
  .handler(async (event, context) => {
    refuseQuery(event);
    const newPet = newPetOf(event.body);
    const scope = { owner: context.owner, key: idempotencyKeyOf(event) };
    const { pet, isReplay } = await pets.create(newPet, scope, context);
    return json(201, pet, isReplay ? { 'Idempotent-Replayed': 'true' } : {});
  });

/** Awaited in Lambda's INIT phase. */
export const initialise = warmUp;

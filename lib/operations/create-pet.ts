import * as v from 'valibot';
import { errors } from '../contract/errors.ts';
import { IdempotencyKey } from '../contract/idempotency-key.ts';
import { maxBodyBytes, withCommas } from '../contract/limits.ts';
import { NewPet, Pet } from '../contract/pet.ts';
import { routes } from '../contract/routes.ts';
import { examplePet } from './example-pet.ts';
import { noInput, type Operation } from './operation.ts';
import type { OperationDetails } from './operation-details.ts';

/** `POST /pets`, as its function needs it. */
export const definition = {
  name: 'createPet',
  ...routes.createPet,
  input: {
    ...noInput,
    headers: v.object({ 'Idempotency-Key': v.optional(IdempotencyKey) }),
    body: NewPet,
  },
  successStatus: 201,
  response: Pet,
} satisfies Operation;

/** What documents, stack and commands need to know. */
export const details = (): OperationDetails<typeof definition> => ({
  summary: 'Add an animal',
  description:
    'Adds one animal, which is stored when you get the response. Lists usually show it within a second. Keep the response, because lists have no filter by `id`, and `GET /pets/{petId}` is deprecated. If the response is lost, repeat the request with the same `Idempotency-Key`. Then no second animal is added, and each response has the animal as it is stored by then.',
  parameters: {
    'Idempotency-Key':
      'A new value for each animal, such as a UUID. It is remembered as long as the animal is stored, and shared by all API keys of one owner.',
  },
  requestBody: {
    description: `The animal, in at most ${withCommas(maxBodyBytes)} bytes of UTF-8. A byte that is not UTF-8, such as an accented letter in Latin-1, gets 400 or is stored as U+FFFD.`,
    examples: {
      required: { name: 'Rex', categoryId: 1 },
      complete: { name: 'Rex', categoryId: 1, status: 'pending' } satisfies Required<NewPet>,
    },
  },
  response: {
    description: 'The animal with its `id`.',
    headers: { 'Idempotent-Replayed': 'Idempotent-Replayed' },
    links: { get: { operationId: 'getPet', parameters: { petId: '$response.body#/id' } } },
  },
  example: {
    request: { body: { name: 'Rex', categoryId: 1 } },
    clientCall: "store.createPet({ name: 'Rex', categoryId: 1 })",
    responses: { created: examplePet },
  },
  wrongRequest: { body: { categoryId: 1, status: 'lost' } },
  errors: [errors.idempotencyKeyReused()],
  calls: [{ action: 'dynamodb:PutItem', resource: 'PetsTable', units: 2 }],
  throttle: {
    production: { ratePerSecond: 200, burst: 400 },
    testing: { ratePerSecond: 50, burst: 100 },
  },
});

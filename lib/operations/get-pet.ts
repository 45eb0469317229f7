import * as v from 'valibot';
import { IdInPath } from '../contract/ids.ts';
import { Pet } from '../contract/pet.ts';
import { routes } from '../contract/routes.ts';
import { examplePet } from './example-pet.ts';
import { noInput, type Operation } from './operation.ts';
import type { OperationDetails } from './operation-details.ts';

/** `GET /pets/{petId}`, as its function needs it. */
export const definition = {
  name: 'getPet',
  ...routes.getPet,
  input: { ...noInput, path: v.object({ petId: IdInPath }) },
  successStatus: 200,
  response: Pet,
} satisfies Operation;

/** What documents, stack and commands need to know. */
export const details = (): OperationDetails<typeof definition> => ({
  summary: 'Get an animal',
  description:
    'Returns one animal, also right after it was added. `GET /pets` has no filter by `id`, so keep the response to the creation, or list animals by `status`.',
  parameters: {
    petId: 'The `id` of the animal. An invalid value gets 404.',
  },
  response: { description: 'The animal.' },
  example: {
    items: { PetsTable: [examplePet] },
    request: { path: { petId: examplePet.id } },
    clientCall: `store.getPet(${examplePet.id})`,
    responses: { found: examplePet },
  },
  calls: [{ action: 'dynamodb:GetItem', resource: 'PetsTable', units: 1 }],
  throttle: {
    production: { ratePerSecond: 500, burst: 1_000 },
    testing: { ratePerSecond: 50, burst: 100 },
  },
});

import { ListPetsQuery, Pets } from '../contract/list-pets-query.ts';
import { routes } from '../contract/routes.ts';
import { encodeCursor } from '../pets/cursor.ts';
import { statusIndex } from '../pets/stored-pet.ts';
import { examplePet } from './example-pet.ts';
import { noInput, type Operation } from './operation.ts';
import type { OperationDetails } from './operation-details.ts';

/** `GET /pets`, as its function needs it. */
export const definition = {
  name: 'listPets',
  ...routes.listPets,
  input: { ...noInput, query: ListPetsQuery },
  successStatus: 200,
  response: Pets,
} satisfies Operation;

/** What documents, stack and commands need to know. */
export const details = (): OperationDetails<typeof definition> => ({
  summary: 'List animals',
  description:
    'Returns one page of the catalogue. The header `Link` has the address of the next page. Follow each `Link` unchanged until a page has none, because a page with fewer animals than `limit`, or with none, can still have a `Link`. Lists usually show a new animal within a second. Do not rely on the order of the animals.',
  parameters: {
    limit: 'Maximum number of animals on the page.',
    status: 'Returns only animals with this status.',
    cursor:
      'Start of the page. Copy it from the `Link` of the previous page, and send the same `status`.',
  },
  response: {
    description: 'A page of animals.',
    headers: { Link: 'NextLink' },
  },
  example: {
    request: { query: { limit: '5', status: 'available' } },
    clientCall: "store.listPetsPage({ limit: 5, status: 'available' })",
    responses: { onePet: [examplePet], empty: [] },
    nextPage: {
      limit: '5',
      status: 'available',
      cursor: encodeCursor(
        { status: 'available', id: `${examplePet.id}` },
        { status: 'available' },
      ),
    },
  },
  wrongRequest: { query: { limit: '0' } },
  calls: [{ action: 'dynamodb:Query', resource: `PetsTable/index/${statusIndex}`, units: 0.5 }],
  // Lists without a cursor read one partition of the index: infra/operations.md#limits.
  throttle: {
    production: { ratePerSecond: 400, burst: 800 },
    testing: { ratePerSecond: 100, burst: 200 },
  },
});

import { errors } from '../../lib/contract/errors.ts';
import type { Pet } from '../../lib/contract/pet.ts';
import type { OperationName } from '../../lib/contract/routes.ts';
import type { OperationDescriptions } from '../../lib/openapi/operations.ts';
import { statusIndex } from '../../lib/pets/index-names.ts';
import type { IndexName } from './indexes.ts';
import { isProduction, type Stage, type Throttle } from './stages.ts';

type DynamodbAction = 'GetItem' | 'PutItem' | 'DeleteItem' | 'Query';

/** What a deployment needs to know of an operation besides its definition. */
interface DeploymentDetails {
  /** The calls of the pets table, or of an index of it, that IAM lets the function make. */
  readonly permissions: readonly { readonly action: DynamodbAction; readonly index?: IndexName }[];
  /** The calls of the pets table for the operation's example, with the capacity of each, in RCU or WCU. */
  readonly exampleCalls: readonly { readonly action: DynamodbAction; readonly units: number }[];
  /** The throttles of an operation that needs others than `throttle` of its stage. */
  readonly throttle?: {
    readonly production: Throttle;
    /** Of every stage that is not in production. */
    readonly testing: Throttle;
  };
}

const rex: Pet = {
  id: 7905532871371142,
  name: 'Rex',
  categoryId: 1,
  status: 'available',
};

/** The details of each operation. No function imports them. */
export const operationDetails: OperationDescriptions &
  Readonly<Record<OperationName, DeploymentDetails>> = {
  listPets: {
    summary: 'List animals',
    description:
      'Returns one page of the catalogue. `Link` has the address of the next page. Follow each one unchanged until a page has no `Link`. A page can have fewer animals than `limit`, or none, and still have a `Link`. An added animal is usually in lists within a second. Do not rely on the order of the animals.',
    parameters: {
      limit: 'Maximum number of animals on the page.',
      status: 'Returns only animals with this status.',
      cursor:
        'Start of the page. Copy it from the `Link` of the previous page, and send the same `status`.',
    },
    response: 'A page of animals.',
    example: {
      request: { query: { limit: '5', status: 'available' } },
      clientCall: "store.listPetsPage({ limit: 5, status: 'available' })",
      responses: { onePet: [rex], empty: [] },
    },
    permissions: [{ action: 'Query', index: statusIndex }],
    exampleCalls: [{ action: 'Query', units: 0.5 }],
  },
  createPet: {
    summary: 'Add an animal',
    description:
      'Adds one animal. `GET /pets/{petId}` finds it as soon as you have the response; lists usually show it within a second. If the response is lost, repeat the request with the same `Idempotency-Key`: the animal is added once, and each response has the same animal.',
    parameters: {
      'Idempotency-Key':
        'A new value for each animal, such as a UUID. It counts for all API keys of one owner, and never expires.',
    },
    response: 'The animal with its `id`.',
    example: {
      request: { body: { name: 'Rex', categoryId: 1 } },
      clientCall: "store.createPet({ name: 'Rex', categoryId: 1 })",
      responses: { created: rex },
    },
    errors: [errors.idempotencyKeyReused()],
    permissions: [{ action: 'PutItem' }],
    exampleCalls: [{ action: 'PutItem', units: 2 }],
    throttle: {
      production: { ratePerSecond: 200, burst: 400 },
      testing: { ratePerSecond: 50, burst: 100 },
    },
  },
  getPet: {
    summary: 'Get an animal',
    description: 'Returns one animal. It finds a new animal at once.',
    parameters: { petId: 'The `id` of the animal. An invalid value gets 404.' },
    response: 'The animal.',
    example: {
      request: { path: { petId: rex.id } },
      clientCall: `store.getPet(${rex.id})`,
      responses: { found: rex },
    },
    permissions: [{ action: 'GetItem' }],
    exampleCalls: [{ action: 'GetItem', units: 1 }],
    throttle: {
      production: { ratePerSecond: 500, burst: 1_000 },
      testing: { ratePerSecond: 50, burst: 100 },
    },
  },
};

/** The throttle of each method of an operation in a stage. */
export const throttleOf = (stage: Stage, name: OperationName): Throttle => {
  const { throttle } = operationDetails[name];
  return throttle?.[isProduction(stage) ? 'production' : 'testing'] ?? stage.throttle;
};

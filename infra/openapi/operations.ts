import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { idempotencyKeyPattern } from '../../lib/contract/limits.ts';
import {
  allowedMethods,
  getPet,
  type Operation,
  type OperationName,
  operations,
} from '../../lib/contract/operations.ts';
import { whenOf } from './errors.ts';
import { entityTag, headersOf, headersOfError, nextLink } from './headers.ts';
import { listPetsParameters } from './schemas.ts';

const rex = { id: 7905532871371142, name: 'Rex', categoryId: 1, status: 'available' };

const json = (schema: string, examples: Readonly<Record<string, unknown>>) => ({
  'application/json': {
    schema: { $ref: `#/components/schemas/${schema}` },
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { value }]),
    ),
  },
});

/** What the document says of an operation beyond its definition. */
interface Description {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly object[];
  readonly requestBody?: object;
  readonly success: {
    readonly status: number;
    readonly headers?: object;
    readonly [member: string]: unknown;
  };
  /** The answer to a client that has the body already. */
  readonly notModified?: { readonly description: string; readonly headers: object };
  /** What a client can do wrong, besides the API key. */
  readonly refusals: readonly ApiError[];
}

const descriptions: Readonly<Record<OperationName, Description>> = {
  listPets: {
    summary: 'List animals',
    description:
      'One page of the catalogue. `Link` leads to the next page: request it unchanged, until a page has no `Link`. Only a missing `Link` ends the list: a page can hold fewer animals than `limit`, or none, and still have one.',
    parameters: listPetsParameters,
    success: {
      status: 200,
      description: 'A page of animals.',
      headers: nextLink,
      content: json('Pets', { onePet: [rex], empty: [] }),
    },
    refusals: [errors.invalidRequest('limit must be an integer from 1 to 100.')],
  },
  createPet: {
    summary: 'Add an animal',
    description:
      'Adds one animal. With an `Idempotency-Key` it is safe to send the same request again after a lost answer: it adds the animal once, and answers with it each time.',
    parameters: [
      {
        in: 'header',
        name: 'Idempotency-Key',
        description: 'Any text that no other creation of yours has, such as a UUID.',
        schema: { type: 'string', pattern: idempotencyKeyPattern.source },
        example: '4f0c5f2e-8d0b-4a57-9a0e-0d0f0f8f8a11',
      },
    ],
    requestBody: {
      description: 'The animal, in at most 8,192 bytes of UTF-8.',
      required: true,
      content: json('NewPet', {
        required: { name: 'Rex', categoryId: 1 },
        complete: { name: 'Rex', categoryId: 1, status: 'pending' },
      }),
    },
    success: {
      status: 201,
      description: 'The animal, with its `id`.',
      content: json('Pet', { created: rex }),
      links: {
        get: { operationId: getPet.name, parameters: { petId: '$response.body#/id' } },
      },
    },
    refusals: [
      errors.invalidRequest('name is required; status must be one of available, pending, sold.'),
      errors.unsupportedMediaType(),
      errors.idempotencyKeyReused(),
    ],
  },
  getPet: {
    summary: 'Get an animal',
    description: 'One animal by its `id`.',
    parameters: [
      {
        in: 'path',
        name: 'petId',
        required: true,
        description: 'The `id` of the animal. A value that none can have is answered with 404.',
        schema: { $ref: '#/components/schemas/PetId' },
      },
      {
        in: 'header',
        name: 'If-None-Match',
        description: 'The `ETag` of the animal as the client has it.',
        schema: { type: 'string' },
        example: '"vZ_ntEUTgTOaGjBG3whJRfYfzbKLDHKxNVXOsqZQKpw"',
      },
    ],
    success: {
      status: 200,
      description: 'The animal.',
      headers: entityTag,
      content: json('Pet', { found: rex }),
    },
    notModified: {
      description: 'The animal is as `If-None-Match` names it.',
      headers: entityTag,
    },
    refusals: [errors.invalidRequest('query parameter fields is not known.'), errors.notFound()],
  },
};

/** The Error responses of an operation, by status: its own refusals, and what the service or its gateway can meet. */
const errorResponses = (operation: Operation, refusals: readonly ApiError[]) =>
  Object.fromEntries(
    [
      ...refusals,
      errors.unauthorized(),
      ...(operation.deprecation
        ? [errors.endpointRemoved(`GET ${operation.deprecation.successor}`)]
        : []),
      errors.methodNotAllowed(allowedMethods(operation.path)),
      errors.payloadTooLarge(),
      errors.tooManyRequests(),
      errors.internalError(),
      errors.badGateway(),
      errors.serviceUnavailable(),
      errors.gatewayTimeout(),
    ].map((error) => [
      error.status,
      {
        description: `\`${error.code}\`: ${whenOf(error)}`,
        headers: { ...headersOf(operation), ...headersOfError(error) },
        content: json('Error', { [error.code]: error.body }),
      },
    ]),
  );

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** What a reader must know of an operation's place in its life. */
const lifecycle = ({ deprecation, stability }: Operation): string[] => [
  ...(stability ? [`This operation is ${stability}: it may change within this version.`] : []),
  ...(deprecation
    ? [
        `**Deprecated** since ${day.format(deprecation.since)} and removed on ${day.format(deprecation.sunset)}: from then on it answers 410. Use \`GET ${deprecation.successor}\` instead, with \`status\` to filter.`,
      ]
    : []),
];

/** An operation with all that it can answer. */
const operationObject = (operation: Operation) => {
  const { name, deprecation, stability } = operation;
  const { description, success, notModified, refusals, ...rest } = descriptions[name];
  const { status, headers: own, ...answer } = success;
  return {
    operationId: name,
    tags: ['pets'],
    ...rest,
    description: [description, ...lifecycle(operation)].join('\n\n'),
    ...(deprecation && {
      deprecated: true,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
    }),
    ...(stability && { 'x-stability': stability }),
    responses: {
      [status]: { ...answer, headers: { ...headersOf(operation), ...own } },
      ...(notModified && {
        304: { ...notModified, headers: { ...headersOf(operation), ...notModified.headers } },
      }),
      ...errorResponses(operation, refusals),
    },
  };
};

/** The operations by path and method. */
export const paths = () =>
  Object.fromEntries(
    [...new Set(operations.map(({ path }) => path))].map((path) => [
      path,
      Object.fromEntries(
        operations
          .filter((operation) => operation.path === path)
          .map((operation) => [operation.method.toLowerCase(), operationObject(operation)]),
      ),
    ]),
  );

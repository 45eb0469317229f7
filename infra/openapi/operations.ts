import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { idempotencyKeyPattern, maxBodyBytes } from '../../lib/contract/limits.ts';
import {
  allowedMethods,
  type Deprecation,
  getPet,
  type Operation,
  type OperationName,
  operations,
} from '../../lib/contract/operations.ts';
import { codeSamples } from './code-samples.ts';
import { errorDescriptions } from './error-descriptions.ts';
import { header, headersOf, headersOfError } from './headers.ts';
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

/** What the document says about an operation beyond its definition. */
interface Description {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<number, ResponseObject>>;
  /** The errors of this operation only. */
  readonly ownErrors: readonly ApiError[];
}

interface ResponseObject {
  readonly description: string;
  readonly headers?: object;
  readonly content?: object;
  readonly links?: object;
}

const descriptions: Readonly<Record<OperationName, Description>> = {
  listPets: {
    summary: 'List animals',
    description:
      'Returns one page of the catalogue. `Link` is the address of the next page: request it unchanged, until a page has no `Link`. A page can have fewer animals than `limit`, or none, and still have a `Link`.',
    parameters: listPetsParameters,
    responses: {
      200: {
        description: 'A page of animals.',
        headers: { Link: header('NextLink') },
        content: json('Pets', { onePet: [rex], empty: [] }),
      },
    },
    ownErrors: [errors.invalidRequest('limit must be an integer from 1 to 100.')],
  },
  createPet: {
    summary: 'Add an animal',
    description:
      'Adds one animal. With an `Idempotency-Key` you can repeat the request when the response is lost: the animal is added once, and each response has the same animal.',
    parameters: [
      {
        in: 'header',
        name: 'Idempotency-Key',
        description: 'A new value for each animal, such as a UUID.',
        schema: { type: 'string', pattern: idempotencyKeyPattern.source },
      },
    ],
    requestBody: {
      description: `The animal, in at most ${maxBodyBytes.toLocaleString('en')} bytes of UTF-8.`,
      required: true,
      content: json('NewPet', {
        required: { name: 'Rex', categoryId: 1 },
        complete: { name: 'Rex', categoryId: 1, status: 'pending' },
      }),
    },
    responses: {
      201: {
        description: 'The animal with its `id`.',
        content: json('Pet', { created: rex }),
        links: {
          get: { operationId: getPet.name, parameters: { petId: '$response.body#/id' } },
        },
      },
    },
    ownErrors: [
      errors.invalidRequest('name is required; status must be one of available, pending, sold.'),
      errors.unsupportedMediaType(),
      errors.idempotencyKeyReused(),
    ],
  },
  getPet: {
    summary: 'Get an animal',
    description: 'Returns one animal.',
    parameters: [
      {
        in: 'path',
        name: 'petId',
        required: true,
        description: 'The `id` of the animal. An invalid value gets 404.',
        schema: { $ref: '#/components/schemas/PetId' },
      },
      {
        in: 'header',
        name: 'If-None-Match',
        description: 'The `ETag` of the animal from an earlier response.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: {
        description: 'The animal.',
        headers: { ETag: header('ETag') },
        content: json('Pet', { found: rex }),
      },
      304: {
        description: 'The animal has not changed: its `ETag` is that in `If-None-Match`.',
        headers: { ETag: header('ETag') },
      },
    },
    ownErrors: [errors.invalidRequest('query parameter fields is not known.'), errors.notFound()],
  },
};

/** The errors of every operation. */
const commonErrors = ({ path, deprecation }: Operation): readonly ApiError[] => [
  errors.unauthorized(),
  ...(deprecation ? [errors.endpointRemoved(`GET ${deprecation.successor}`)] : []),
  errors.methodNotAllowed(allowedMethods(path)),
  errors.payloadTooLarge(),
  errors.tooManyRequests(),
  errors.internalError(),
  errors.badGateway(),
  errors.serviceUnavailable(),
  errors.gatewayTimeout(),
];

const errorResponse = (error: ApiError): ResponseObject => ({
  description: `\`${error.code}\`: ${errorDescriptions[error.code]}`,
  headers: headersOfError(error),
  content: json('Error', { [error.code]: error.body }),
});

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

const deprecationOf = ({ since, sunset, successor }: Deprecation) => ({
  note: `\n\n**Deprecated** since ${day.format(since)}. It will be removed on ${day.format(sunset)}, and then return 410. Use \`GET ${successor}\` instead.`,
  marks: { deprecated: true, 'x-sunset': sunset.toISOString().slice(0, 10) },
});

/** An operation with all its responses. */
const operationObject = (operation: Operation) => {
  const { name } = operation;
  const { description, responses, ownErrors, ...rest } = descriptions[name];
  const deprecation = operation.deprecation && deprecationOf(operation.deprecation);
  const errorResponses = [...ownErrors, ...commonErrors(operation)].map(
    (error): [string, ResponseObject] => [`${error.status}`, errorResponse(error)],
  );
  return {
    operationId: name,
    tags: ['pets'],
    ...rest,
    description: description + (deprecation?.note ?? ''),
    ...deprecation?.marks,
    'x-codeSamples': codeSamples(name),
    responses: Object.fromEntries(
      [...Object.entries(responses), ...errorResponses].map(([status, response]) => [
        status,
        { ...response, headers: { ...headersOf(operation), ...response.headers } },
      ]),
    ),
  };
};

/** The operations by path and method. */
export const paths = () => {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, group]) => [
      path,
      Object.fromEntries(group.map((each) => [each.method.toLowerCase(), operationObject(each)])),
    ]),
  );
};

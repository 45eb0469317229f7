import { ApiError, errorDescriptions, errors } from '../contract/errors.ts';
import { idempotencyKeyPattern, maxBodyBytes } from '../contract/limits.ts';
import { ListPetsQuery } from '../contract/list-pets-query.ts';
import { type Deprecation, getPet, type Operation, operations } from '../contract/operations.ts';
import { NewPet } from '../contract/pet.ts';
import { parseBody, parseQuery } from '../contract/requests.ts';
import { allowedMethods, type OperationName } from '../contract/routes.ts';
import { codeSamples, type ExampleRequest } from './code-samples.ts';
import { header, headersOf, headersOfError } from './headers.ts';
import { listPetsParameters, ref } from './schemas.ts';

/** What the document says of an operation beside its definition. */
export interface OperationDescription {
  readonly summary: string;
  readonly description: string;
  /** A request that works, and the body of its response. */
  readonly example: { readonly request: ExampleRequest; readonly response: unknown };
}

/** The description of each operation, by name. */
export type OperationDescriptions = Readonly<Record<OperationName, OperationDescription>>;

const json = (schema: string, examples: Readonly<Record<string, unknown>>) => ({
  'application/json': {
    schema: ref(schema),
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { value }]),
    ),
  },
});

const parameter = (place: string, name: string, description: string, schema: unknown) => ({
  in: place,
  name,
  ...(place === 'path' && { required: true }),
  description,
  schema,
});

/** The error that the service responds with when it parses such a request. */
const refusalOf = (parse: () => unknown): ApiError => {
  try {
    parse();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('The example of a wrong request is not refused');
};

interface ResponseParts {
  readonly headers?: object;
  readonly content?: object;
  readonly links?: object;
}
const response = (description: string, parts: ResponseParts) => ({ description, ...parts });

/** Parameters and responses of the operations. Every operation has further errors than its `ownErrors`. */
const partsOf = (descriptions: OperationDescriptions) => ({
  listPets: {
    parameters: Object.entries({
      limit: 'Maximum number of animals on the page.',
      status: 'Returns only animals with this status.',
      cursor:
        'Start of the page. Copy it from the `Link` of the previous page, and send the same `status`.',
    } satisfies Record<keyof ListPetsQuery, string>).map(([name, description]) =>
      parameter('query', name, description, listPetsParameters[name]),
    ),
    responses: {
      200: response('A page of animals.', {
        headers: { Link: header('NextLink') },
        content: json('Pets', { onePet: descriptions.listPets.example.response, empty: [] }),
      }),
    },
    ownErrors: [refusalOf(() => parseQuery(ListPetsQuery, { limit: '0' }))],
  },
  createPet: {
    parameters: [
      parameter(
        'header',
        'Idempotency-Key',
        'A new value for each animal, such as a UUID. The programs of one owner share their keys, and keys never expire.',
        {
          type: 'string',
          pattern: idempotencyKeyPattern.source,
        },
      ),
    ],
    requestBody: {
      description: `The animal, in at most ${maxBodyBytes.toLocaleString('en')} bytes of UTF-8. API Gateway replaces each byte that is not UTF-8, such as an accented letter in Latin-1, by U+FFFD before the service sees it.`,
      required: true,
      content: json('NewPet', {
        required: descriptions.createPet.example.request.body,
        complete: { name: 'Rex', categoryId: 1, status: 'pending' } satisfies Required<NewPet>,
      }),
    },
    responses: {
      201: response('The animal with its `id`.', {
        headers: { 'Idempotent-Replayed': header('Idempotent-Replayed') },
        content: json('Pet', { created: descriptions.createPet.example.response }),
        links: {
          get: { operationId: getPet.name, parameters: { petId: '$response.body#/id' } },
        },
      }),
    },
    ownErrors: [
      refusalOf(() => parseBody(NewPet, { categoryId: 1, status: 'lost' })),
      errors.unsupportedMediaType(),
      errors.idempotencyKeyReused(),
    ],
  },
  getPet: {
    parameters: [
      parameter(
        'path',
        'petId',
        'The `id` of the animal. An invalid value gets 404.',
        ref('PetId'),
      ),
    ],
    responses: {
      200: response('The animal.', {
        content: json('Pet', { found: descriptions.getPet.example.response }),
      }),
    },
    ownErrors: [errors.invalidRequest('query parameter expand is not known.'), errors.notFound()],
  },
});

/** The error responses of an operation, by status: its own errors and those that every operation has. */
const errorsOf = ({ path, deprecation }: Operation, own: readonly ApiError[]) =>
  [
    ...own,
    errors.unauthorized(),
    ...(deprecation ? [errors.endpointRemoved(`GET ${deprecation.successor}`)] : []),
    errors.methodNotAllowed(allowedMethods(path)),
    errors.payloadTooLarge(),
    errors.tooManyRequests(),
    errors.internalError(),
    errors.badGateway(),
    errors.serviceUnavailable(),
    errors.gatewayTimeout(),
  ].map(
    (error) =>
      [
        error.status,
        response(`\`${error.code}\`: ${errorDescriptions[error.code]}`, {
          headers: headersOfError(error),
          content: json('Error', { [error.code]: error.body }),
        }),
      ] as const,
  );

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

const deprecationNote = ({ since, sunset, successor }: Deprecation) =>
  `\n\n**Deprecated** since ${day.format(since)}. It will be removed on ${day.format(sunset)}; from then on it returns 410. Use \`GET ${successor}\` instead.`;

/** An operation with all its responses. */
const operationObject = (operation: Operation, descriptions: OperationDescriptions) => {
  const { name, deprecation } = operation;
  const { summary, description, example } = descriptions[name];
  const { responses, ownErrors, ...rest } = partsOf(descriptions)[name];
  const all = [...Object.entries(responses), ...errorsOf(operation, ownErrors)];
  return {
    operationId: name,
    tags: ['pets'],
    summary,
    ...rest,
    description: description + (deprecation ? deprecationNote(deprecation) : ''),
    ...(deprecation && {
      deprecated: true,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
    }),
    'x-codeSamples': codeSamples(operation, example.request),
    responses: Object.fromEntries(
      all.map(([status, each]) => [
        status,
        { ...each, headers: { ...headersOf(operation), ...each.headers } },
      ]),
    ),
  };
};

/** The operations by path and method. */
export const paths = (descriptions: OperationDescriptions) => {
  const items: Record<string, Record<string, ReturnType<typeof operationObject>>> = {};
  for (const each of operations)
    items[each.path] = {
      ...items[each.path],
      [each.method.toLowerCase()]: operationObject(each, descriptions),
    };
  return items;
};

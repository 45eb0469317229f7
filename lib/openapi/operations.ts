import * as v from 'valibot';
import { ApiError, errorDescriptions, errors } from '../contract/errors.ts';
import {
  idempotencyKeyPattern,
  maxBodyBytes,
  maxIdempotencyKeyLength,
  withCommas,
} from '../contract/limits.ts';
import { ListPetsQuery } from '../contract/list-pets-query.ts';
import {
  type Deprecation,
  getPet,
  type Operation,
  operations,
  type ParameterName,
  type RouteParameterName,
  responseSchemas,
} from '../contract/operations.ts';
import { NewPet } from '../contract/pet.ts';
import { parseBody, parseQuery } from '../contract/requests.ts';
import { allowedMethods, type OperationName } from '../contract/routes.ts';
import { codeSamples, type ExampleRequest } from './code-samples.ts';
import { header, headersOf, headersOfError } from './headers.ts';
import { queryParameters, ref } from './schemas.ts';

/** What the document says of an operation beside its definition. */
interface OperationDescription<Name extends OperationName = OperationName> {
  readonly summary: string;
  readonly description: string;
  /** The parameters in the path, the query and the headers. */
  readonly parameters: Readonly<Record<ParameterName<Name>, string>>;
  /** The successful response. */
  readonly response: string;
  readonly example: Example;
  /** The errors that only this operation responds with. */
  readonly errors?: readonly ApiError[];
}

interface Example {
  /** A request that works. */
  readonly request: ExampleRequest;
  /** The same request as a call of the typed client, which is `store`. */
  readonly clientCall: string;
  /** Bodies of successful responses, by name. The first one responds to the request. */
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The description of each operation, by name. */
export type OperationDescriptions = {
  readonly [Name in OperationName]: OperationDescription<Name>;
};

const json = (schema: string, examples: Readonly<Record<string, unknown>>) => ({
  'application/json': {
    schema: ref(schema),
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { value }]),
    ),
  },
});

/** The schemas of the parameters in paths and headers. */
const parameterSchemas: Readonly<Record<RouteParameterName<OperationName>, object>> = {
  petId: ref('PetId'),
  'Idempotency-Key': {
    type: 'string',
    maxLength: maxIdempotencyKeyLength,
    pattern: idempotencyKeyPattern.source,
  },
};

/** The parameters that an operation takes in its path, its query and its headers. */
const parametersOf = (
  { name: operationName, query, headers }: Operation,
  descriptions: Readonly<Record<string, string>>,
  { request }: Example,
) =>
  Object.entries(descriptions).map(([name, description]) => {
    const schema: unknown = Reflect.get(parameterSchemas, name);
    if (headers.includes(name)) return { in: 'header', name, description, schema };
    const inQuery = query.entries[name];
    return {
      in: inQuery ? 'query' : 'path',
      name,
      ...(inQuery?.type !== 'optional' && { required: true }),
      description,
      schema: inQuery ? queryParameters(operationName)[name] : schema,
      example: inQuery ? v.parse(inQuery, request.query?.[name]) : request.path?.[name],
    };
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

/** What the document says of an operation that no other definition says. */
interface OwnParts {
  readonly requestBody?: object;
  /** Members of the successful response. */
  readonly response?: { readonly headers: object; readonly links?: object };
  /** The error of a wrong request; by default that of an unknown query parameter. */
  readonly invalidRequest?: ApiError;
}

const ownPartsOf = ({
  createPet,
}: OperationDescriptions): Readonly<Partial<Record<OperationName, OwnParts>>> => ({
  listPets: {
    response: { headers: { Link: header('NextLink') } },
    invalidRequest: refusalOf(() => parseQuery(ListPetsQuery, { limit: '0' })),
  },
  createPet: {
    requestBody: {
      description: `The animal, in at most ${withCommas(maxBodyBytes)} bytes of UTF-8. API Gateway replaces each byte that is not UTF-8, such as an accented letter in Latin-1, by U+FFFD before the service sees it.`,
      required: true,
      content: json('NewPet', {
        required: createPet.example.request.body,
        complete: { name: 'Rex', categoryId: 1, status: 'pending' } satisfies Required<NewPet>,
      }),
    },
    response: {
      headers: { 'Idempotent-Replayed': header('Idempotent-Replayed') },
      links: {
        get: { operationId: getPet.name, parameters: { petId: '$response.body#/id' } },
      },
    },
    invalidRequest: refusalOf(() => parseBody(NewPet, { categoryId: 1, status: 'lost' })),
  },
});

/** The error responses of an operation, by status. */
const errorsOf = (
  { name, path, query, body, deprecation }: Operation,
  { invalidRequest }: OwnParts,
  descriptions: OperationDescriptions,
) =>
  [
    invalidRequest ?? refusalOf(() => parseQuery(query, { expand: 'all' })),
    ...(path.includes('{') ? [errors.notFound()] : []),
    ...(body ? [errors.unsupportedMediaType()] : []),
    ...(descriptions[name].errors ?? []),
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
        {
          description: `\`${error.code}\`: ${errorDescriptions[error.code]}`,
          headers: headersOfError(error),
          content: json('Error', { [error.code]: error.body }),
        },
      ] as const,
  );

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

const deprecationNote = ({ since, sunset, successor }: Deprecation) =>
  `\n\n**Deprecated** since ${day.format(since)}. It will be removed on ${day.format(sunset)}; from then on it returns 410. Use \`GET ${successor}\` instead.`;

/** An operation with all its responses. */
const operationObject = (operation: Operation, descriptions: OperationDescriptions) => {
  const { name, body, successStatus, deprecation } = operation;
  const { summary, description, parameters, response, example } = descriptions[name];
  const own = ownPartsOf(descriptions)[name] ?? {};
  if (body && !own.requestBody)
    throw new Error(`lib/openapi/operations.ts lacks the requestBody of ${name}`);
  const [schema] = Object.keys(responseSchemas[name]);
  const successful = {
    description: response,
    headers: {},
    ...(schema && { content: json(schema, example.responses) }),
    ...own.response,
  };
  const all = [[successStatus, successful] as const, ...errorsOf(operation, own, descriptions)];
  return {
    operationId: name,
    tags: ['pets'],
    summary,
    parameters: parametersOf(operation, parameters, example),
    requestBody: own.requestBody,
    description: description + (deprecation ? deprecationNote(deprecation) : ''),
    ...(deprecation && {
      deprecated: true,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
    }),
    'x-codeSamples': codeSamples(operation, example.request, example.clientCall),
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

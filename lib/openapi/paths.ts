import * as v from 'valibot';
import { type ApiError, errorDescriptions, errors } from '../contract/errors.ts';
import { allowedMethods, type Deprecation, type Route } from '../contract/routes.ts';
import type { Operation } from '../operations/operation.ts';
import type { AnyDetails } from '../operations/operation-details.ts';
import { detailsOf, operations, refusedRequestOf } from '../operations/operations.ts';
import { codeSamples } from './code-samples.ts';
import { header, headersOf, headersOfError } from './headers.ts';
import { parameterSchemas, ref, titleOf } from './schemas.ts';

const json = (schema: string, examples: Readonly<Record<string, unknown>>) => ({
  'application/json': {
    schema: ref(schema),
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { value }]),
    ),
  },
});

/** The parameters that an operation takes in its path, its query and its headers. */
const parametersOf = ({ name: operationName, input }: Operation, details: AnyDetails) => {
  const schemas = parameterSchemas(operationName);
  const { request, nextPage } = details.example;
  return [
    { place: 'path', entries: input.path.entries, examples: request.path },
    { place: 'query', entries: input.query.entries, examples: { ...nextPage, ...request.query } },
    { place: 'header', entries: input.headers.entries, examples: {} },
  ].flatMap(({ place, entries, examples = {} }) =>
    Object.entries(entries).map(([name, entry]) => ({
      in: place,
      name,
      ...(entry.type !== 'optional' && { required: true }),
      description: details.parameters[name],
      schema: schemas[name],
      // A request has the text of a value.
      example: name in examples ? v.parse(entry, `${examples[name]}`) : undefined,
    })),
  );
};

/** The body of a request, if the operation takes one. */
const requestBodyOf = ({ input }: Operation, { requestBody }: AnyDetails) => {
  if (!input.body || !requestBody) return undefined;
  const { description, examples } = requestBody;
  return { description, required: true, content: json(titleOf(input.body), examples) };
};

/** The successful response of an operation. */
const successOf = ({ response: schema }: Operation, { response, example }: AnyDetails) => {
  const { description, headers = {}, links } = response;
  return {
    description,
    headers: Object.fromEntries(
      Object.entries(headers).map(([each, component]) => [each, header(component)]),
    ),
    ...(schema && { content: json(titleOf(schema), example.responses) }),
    ...(links && { links }),
  };
};

/** The errors that the service responds with to an operation. */
const errorsOf = (operation: Operation): ApiError[] => {
  const { name, path, input, deprecation } = operation;
  const { errors: own = [] } = detailsOf(name);
  return [
    refusedRequestOf(operation).error,
    ...(path.includes('{') ? [errors.notFound()] : []),
    ...(input.body ? [errors.unsupportedMediaType()] : []),
    ...own,
    errors.unauthorized(),
    ...(deprecation ? [errors.endpointRemoved(deprecation.successor)] : []),
    errors.methodNotAllowed(allowedMethods(path)),
    errors.payloadTooLarge(),
    errors.tooManyRequests(),
    errors.internalError(),
    errors.badGateway(),
    errors.serviceUnavailable(),
    errors.gatewayTimeout(),
  ];
};

/** Returns every documented error, once for each code, in the order of status. */
export const documentedErrors = (): ApiError[] => {
  const byCode = new Map(operations.flatMap(errorsOf).map((error) => [error.code, error]));
  return [...byCode.values()].sort((one, other) => one.status - other.status);
};

/** The error responses of an operation, by status. Errors of one status are one response. */
const errorResponsesOf = (operation: Operation) =>
  [...Map.groupBy(errorsOf(operation), ({ status }) => status)].map(([status, same]) => {
    const description = same
      .map(({ code }) => `\`${code}\`: ${errorDescriptions[code]}`)
      .join('\n\n');
    const headers = Object.assign({}, ...same.map(headersOfError));
    const content = json('Error', Object.fromEntries(same.map((each) => [each.code, each.body])));
    return [status, { description, headers, content }] as const;
  });

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

const deprecationNote = ({ since, sunset, successor }: Deprecation) =>
  `\n\n**Deprecated** since ${day.format(since)}. It will be removed on ${day.format(sunset)}; from then on it returns 410. Use \`GET ${successor}\` instead.`;

/** An operation with all its responses. */
const operationObject = (operation: Operation) => {
  const { name, successStatus, deprecation } = operation;
  const details = detailsOf(name);
  const { summary, description, example } = details;
  const success = successOf(operation, details);
  const all = [[successStatus, success] as const, ...errorResponsesOf(operation)];
  return {
    operationId: name,
    tags: [tagOf(operation)],
    summary,
    parameters: parametersOf(operation, details),
    requestBody: requestBodyOf(operation, details),
    description: description + (deprecation ? deprecationNote(deprecation) : ''),
    ...(deprecation && {
      deprecated: true,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
    }),
    'x-codeSamples': codeSamples(operation, example.request, example.clientCall),
    responses: Object.fromEntries(
      all.map(([status, each]) => [
        status,
        { ...each, headers: headersOf(operation, each.headers) },
      ]),
    ),
  };
};

/** Returns the tag of an operation: the first segment of its path. */
export const tagOf = ({ path }: Route) => `${path.split('/')[1]}`;

/** Returns the operations by path and method. */
export const paths = () => {
  const items: Record<string, Record<string, ReturnType<typeof operationObject>>> = {};
  for (const each of operations)
    items[each.path] = { ...items[each.path], [each.method.toLowerCase()]: operationObject(each) };
  return items;
};

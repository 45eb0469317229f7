import type { APIGatewayProxyEvent } from 'aws-lambda';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import type { FunctionName } from '../../lib/contract/routes.ts';
import { createProxyEvent } from '../../lib/gateway-events/create-proxy-event.ts';
import { newRequestIds } from '../../lib/gateway-events/gateway-request.ts';
import type { Operation } from '../../lib/operations/operation.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import type { Items } from './test-tables.ts';

/** Headers or query parameters; a name may have several values, or none. */
export type Values = Readonly<Record<string, string | readonly string[]>>;

export interface EventParts {
  /** A client may choose it. */
  readonly requestId?: string;
  readonly method?: string;
  readonly resource?: string;
  /** The parameters in the path, by name. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly headers?: Values;
  readonly query?: Values;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** The extended request id of every event. */
export const extendedRequestId = 'ATfSdF7nPHcErRA=';

/** The proxy event that a REST API sends for a request, as the local gateway builds it. */
export const eventWith = (parts: EventParts): APIGatewayProxyEvent => {
  const ids = newRequestIds();
  const { requestId = ids.requestId, method = 'GET', resource = resourceOf(parts) } = parts;
  const { headers = {}, query = {}, body = '', isBase64Encoded = false } = parts;
  const parameters = Object.entries(parts.path ?? {}).map(([name, value]) => [name, `${value}`]);
  const path = pathOf({ ...parts, resource });
  const request = {
    ...ids,
    requestId,
    extendedRequestId,
    method,
    path: `/v1${path}`,
    query: `${new URLSearchParams(pairsOf(query))}`,
    headers: pairsOf(headers),
    port: 443,
  };
  const pathParameters = Object.fromEntries(parameters);
  const api = { accountId: '123456789012', apiId: 'test' };
  const target = { api, stage: 'v1', path, resourcePath: resource, pathParameters };
  const event = createProxyEvent(request, target, body);
  return { ...event, isBase64Encoded };
};

const parameter = /{(\w+)}/g;

/** The first path of an operation with these parameters. */
export const resourceOf = ({ path = {} }: EventParts): string => {
  const names = Object.keys(path).join();
  const isWanted = (template: string) =>
    [...template.matchAll(parameter)].map(([, name]) => name).join() === names;
  return operations.find((operation) => isWanted(operation.path))?.path ?? '/{proxy+}';
};

/** The path of a request below the base address. */
export const pathOf = ({ resource = '', path = {} }: EventParts): string =>
  resource.replace(parameter, (_all, name: string) => `${path[name] ?? ''}`);

/** One pair for each value of a name. */
export const pairsOf = (values: Values) =>
  Object.entries(values).flatMap(([name, given]) =>
    [given].flat().map((value): [string, string] => [name, value]),
  );

/** The header that carries an API key. */
export const bearer = (apiKey: string) => ({ Authorization: `Bearer ${apiKey}` });

/** A valid `POST /pets` for `send`, which adds the API key. */
export const creation = (
  pet: unknown = { name: 'Rex', categoryId: 1 },
  headers: Values = {},
): EventParts => ({ method: 'POST', headers, body: stringifyJson(pet) });

/** A request for `send`, and the items that it needs. */
export interface Example {
  readonly request: EventParts;
  readonly items: Items;
}

/**
 * The example of an operation in the contract. Its items, and its path, have this id, so that operations that
 * change or remove an item do not share it.
 */
export const exampleOf = ({ name, method, path: resource }: Operation, id: number): Example => {
  const { request, items = {} } = detailsOf(name).example;
  const { path = {}, query = {}, body } = request;
  const replaced = Object.values(path);
  const withId = <Part extends object>(part: Part): Part =>
    JSON.parse(JSON.stringify(part), (_key, value) => (replaced.includes(value) ? id : value));
  return {
    request: {
      ...{ method, resource, path: withId(path), query },
      ...(body && { body: stringifyJson(body) }),
    },
    items: withId(items),
  };
};

/**
 * The calls of DynamoDB for the example of an operation, such as `Query Pets`, and the RCU or WCU of each.
 */
export const exampleCallsOf = ({ name }: Pick<Operation, 'name'>) =>
  detailsOf(name).calls.flatMap(({ action, resource, units }) => {
    if (units === undefined) return [];
    const [table = ''] = resource.split('Table');
    return [{ call: `${action.replace('dynamodb:', '')} ${table}`, units }];
  });

/**
 * Returns a valid request for a function, as an event, with the items that it needs, and the status of its
 * response.
 */
export const exampleRequest = (name: FunctionName, apiKey: string, id = 1) => {
  const headers = { ...bearer(apiKey), 'Content-Type': 'application/json' };
  const operation = operations.find((each) => each.name === name);
  const unknownPath: Example = { request: { resource: '/{proxy+}' }, items: {} };
  const { request, items } = operation ? exampleOf(operation, id) : unknownPath;
  const status = operation?.successStatus ?? 404;
  return { event: eventWith({ ...request, headers }), items, status };
};

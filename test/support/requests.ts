import type { APIGatewayProxyEvent } from 'aws-lambda';
import { newRequestIds, proxyEvent } from '../../lib/api-gateway/proxy-event.ts';
import { stringifyJson } from '../../lib/contract/exact-json.ts';
import type { FunctionName } from '../../lib/contract/routes.ts';
import type { Operation } from '../../lib/operations/operation.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';

/** Headers or query parameters; a name may have several values, or none. */
export type Values = Readonly<Record<string, string | readonly string[]>>;

export interface EventParts {
  /** A client may choose it. */
  readonly requestId?: string;
  readonly method?: string;
  readonly resource?: string;
  readonly petId?: string;
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
  const { requestId = ids.requestId, method = 'GET', resource = resourceOf(parts), petId } = parts;
  const { headers = {}, query = {}, body = '', isBase64Encoded = false } = parts;
  const path = resource.replace('{petId}', petId ?? '');
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
  const pathParameters = petId === undefined ? {} : { petId: `${petId}` };
  const api = { accountId: '123456789012', apiId: 'test' };
  const target = { api, stage: 'v1', path, resourcePath: resource, pathParameters };
  const event = proxyEvent(request, target, body);
  return { ...event, isBase64Encoded };
};

/** The path of a pet if there is an id, otherwise that of the list. */
export const resourceOf = ({ petId }: EventParts) =>
  petId === undefined ? '/pets' : '/pets/{petId}';

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

/** The example of an operation in the contract, for `send`. A pet in its path has this id. */
export const exampleOf = (
  { name, method, path }: Operation,
  petId: number | string,
): EventParts => {
  const { query = {}, body } = detailsOf(name).example.request;
  return {
    ...{ method, resource: path, query },
    ...(path.includes('{petId}') && { petId: `${petId}` }),
    ...(body && { body: stringifyJson(body) }),
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
 * Returns a valid request for a function, as an event, and the status of its response. A pet in its path has
 * this id.
 */
export const exampleRequest = (name: FunctionName, apiKey: string, petId = 1) => {
  const headers = { ...bearer(apiKey), 'Content-Type': 'application/json' };
  const operation = operations.find((each) => each.name === name);
  const request = operation ? exampleOf(operation, petId) : { resource: '/{proxy+}' };
  return { event: eventWith({ ...request, headers }), status: operation?.successStatus ?? 404 };
};

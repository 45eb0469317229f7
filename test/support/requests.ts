import { stringifyJson } from '../../lib/contract/exact-json.ts';
import type { Operation } from '../../lib/operations/operation.ts';
import { detailsOf } from '../../lib/operations/operations.ts';
import type { EventParts, Values } from './proxy-event.ts';

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

/** A valid `POST /pets` for `invoke`, with the API key. */
export const createRequest = (apiKey: string, pet?: unknown, headers?: Values) =>
  creation(pet, { ...bearer(apiKey), 'Content-Type': 'application/json', ...headers });

/** A valid `GET /pets/{petId}` for `invoke`, with the API key. */
export const getRequest = (apiKey: string, id: number | string): EventParts => ({
  petId: `${id}`,
  headers: bearer(apiKey),
});

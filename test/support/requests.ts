import { stringifyJson } from '../../lib/contract/exact-json.ts';
import type { EventParts, Values } from './proxy-event.ts';

/** The header that carries an API key. */
export const bearer = (apiKey: string) => ({ Authorization: `Bearer ${apiKey}` });

/** A valid `POST /pets` for `send`, which adds the API key. */
export const creation = (
  pet: unknown = { name: 'Rex', categoryId: 1 },
  headers: Values = {},
): EventParts => ({ method: 'POST', headers, body: stringifyJson(pet) });

/** A valid `POST /pets` for `invoke`, with the API key. */
export const createRequest = (apiKey: string, pet?: unknown, headers?: Values) =>
  creation(pet, { ...bearer(apiKey), 'Content-Type': 'application/json', ...headers });

/** A valid `GET /pets/{petId}` for `invoke`, with the API key. */
export const getRequest = (apiKey: string, id: number | string): EventParts => ({
  petId: `${id}`,
  headers: bearer(apiKey),
});

import { newRequestIds, proxyEvent } from '../api-gateway/proxy-event.ts';
import { errors } from '../contract/errors.ts';
import { ownUserAgent } from '../contract/own-user-agent.ts';
import type { FunctionName } from '../contract/routes.ts';
import { generateApiKey } from '../keys/api-key.ts';
import { type CheckRequest, errorResponse } from '../operations/check-request.ts';
import { definition as createPet } from '../operations/create-pet.ts';
import { isRemoved, type Operation } from '../operations/operation.ts';
import { checkRequestOf, operations } from '../operations/operations.ts';

/** The target of a request: an operation, or the function of all other paths. */
type Target = Pick<Operation, 'method' | 'path' | 'headers' | 'deprecation'> & {
  readonly name: FunctionName;
};

const fallback: Target = { name: 'fallback', method: 'GET', path: '/{proxy+}', headers: [] };

/**
 * Returns the check requests that every operation refuses: one without an API key, and one with a key that
 * nobody has issued.
 */
export const refused = (apiKey: string): SentCheckRequest[] => {
  const unknownKey = generateApiKey(apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test');
  const response = errorResponse(errors.unauthorized());
  return operations.flatMap((target) => [
    toEvent({ target, response }),
    toEvent({ target, apiKey: unknownKey, response }),
  ]);
};

/** Returns the check request that adds the check's pet. */
export const ofCreation = (apiKey: string): SentCheckRequest => ofOperation(createPet, apiKey);

/** Returns the check requests to all other functions; `petId` is that of the pet that the check has added. */
export const afterCreation = (apiKey: string, petId: number): SentCheckRequest[] => [
  ...operations
    .filter(({ name }) => name !== createPet.name)
    .map((each) => ofOperation(each, apiKey, petId)),
  toEvent({ target: fallback, apiKey, response: errorResponse(errors.unknownPath()) }),
];

/** The id of no pet. A version that refuses no API key must not change a pet of the catalogue. */
const noPetId = Number.MAX_SAFE_INTEGER;

/** Returns the check request to an operation. Its response is 410 from the operation's sunset on. */
const ofOperation = (target: Operation, apiKey: string, petId = noPetId): SentCheckRequest => {
  const request = checkRequestOf(target.name, petId);
  if (!isRemoved(target)) return toEvent({ ...request, target, apiKey });
  const removed = errors.endpointRemoved(`GET ${target.deprecation?.successor}`);
  return toEvent({ ...request, target, apiKey, response: errorResponse(removed) });
};

/** Check requests call functions directly, without an API. */
const api = { accountId: 'none', apiId: 'deployment-check' };

/** A check request with its target, and the API key if it has one. */
interface TargetedCheckRequest extends CheckRequest {
  readonly target: Target;
  readonly apiKey?: string;
}

/** Returns a check request in the form in which API Gateway calls a function. */
const toEvent = (request: TargetedCheckRequest) => {
  const { target, apiKey, attempts = 1, response } = request;
  const { name, method, path: resourcePath } = target;
  const pathParameters: Record<string, string> = {};
  const path = resourcePath.replace(/{([^}]+)}/g, (_template, parameter: string) => {
    const value = `${request.path?.[parameter] ?? noPetId}`;
    pathParameters[parameter] = value;
    return value;
  });
  const body = request.body ? JSON.stringify(request.body) : '';
  const sent = {
    ...newRequestIds(),
    method,
    path: `/v1${path}`,
    query: new URLSearchParams(request.query).toString(),
    headers: Object.entries({
      'User-Agent': ownUserAgent,
      ...authorization(apiKey),
      ...(body !== '' && { 'Content-Type': 'application/json' }),
      ...(target.headers.includes('Idempotency-Key') && { 'Idempotency-Key': 'deployment-check' }),
    }),
    port: 443,
  };
  return {
    functionName: name,
    attempts,
    event: proxyEvent(sent, { api, stage: 'v1', path, resourcePath, pathParameters }, body),
    response: {
      ...response,
      headers: {
        ...(response.status !== 204 && { 'Content-Type': 'application/json' }),
        'Cache-Control': 'no-store',
        ...deprecationHeaders(target),
        ...response.headers,
      },
    },
  };
};

const authorization = (apiKey: string | undefined) =>
  apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };

/** Returns the headers of a deprecated operation (RFC 9745 and RFC 8594). */
const deprecationHeaders = ({ deprecation }: Target) =>
  deprecation === undefined
    ? {}
    : {
        Deprecation: `@${deprecation.since.getTime() / 1_000}`,
        Sunset: deprecation.sunset.toUTCString(),
      };

/** A check request as the event that its function gets, and the response that the function must return. */
export type SentCheckRequest = ReturnType<typeof toEvent>;

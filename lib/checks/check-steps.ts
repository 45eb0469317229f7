import { errors } from '../contract/errors.ts';
import { ownUserAgent } from '../contract/own-user-agent.ts';
import type { FunctionName } from '../contract/routes.ts';
import { generateApiKey } from '../keys/api-key.ts';
import { type CheckRequest, errorResponse } from '../operations/check-request.ts';
import { definition as createPet } from '../operations/create-pet.ts';
import {
  deprecationHeaders,
  noInput,
  type Operation,
  removalOf,
  takesIdempotencyKey,
} from '../operations/operation.ts';
import { checkRequestOf, operations } from '../operations/operations.ts';
import { directEvent, noPetId } from './direct-event.ts';

/** The target of a request: an operation, or the function of all other paths. */
type Target = Pick<Operation, 'method' | 'path' | 'input' | 'deprecation'> & {
  readonly name: FunctionName;
};

const fallback: Target = { name: 'fallback', method: 'GET', path: '/{proxy+}', input: noInput };

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

/** Returns the check request to an operation. Its response is 410 from the operation's sunset on. */
const ofOperation = (target: Operation, apiKey: string, petId = noPetId): SentCheckRequest => {
  const request = checkRequestOf(target.name, petId);
  const removal = removalOf(target);
  const response = removal ? errorResponse(removal) : request.response;
  return toEvent({ ...request, target, apiKey, response });
};

/** A check request with its target, and the API key if it has one. */
interface TargetedCheckRequest extends CheckRequest {
  readonly target: Target;
  readonly apiKey?: string;
}

/** Returns a check request in the form in which API Gateway calls a function. */
const toEvent = (request: TargetedCheckRequest) => {
  const { target, apiKey, attempts = 1, response } = request;
  const headers = {
    'User-Agent': ownUserAgent,
    ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
    ...(takesIdempotencyKey(target) && { 'Idempotency-Key': 'deployment-check' }),
  };
  return {
    functionName: target.name,
    attempts,
    event: directEvent(target, request, headers),
    response: {
      ...response,
      headers: {
        ...(response.status !== 204 && { 'Content-Type': 'application/json' }),
        'Cache-Control': 'no-store',
        ...(target.deprecation && deprecationHeaders(target.deprecation)),
        ...response.headers,
      },
    },
  };
};

/** A check request as the event that its function gets, and the response that the function must return. */
export type SentCheckRequest = ReturnType<typeof toEvent>;

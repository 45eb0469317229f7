import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { newRequestIds, proxyEvent } from '../api-gateway/proxy-event.ts';
import { type ApiError, errors } from '../contract/errors.ts';
import { createPet, isRemoved, type Operation, operations } from '../contract/operations.ts';
import { ownUserAgent } from '../contract/own-user-agent.ts';
import { Pet } from '../contract/pet.ts';
import type { FunctionName, OperationName } from '../contract/routes.ts';
import { generateApiKey } from '../keys/api-key.ts';

/** The response that a request must get. */
interface Expected {
  readonly status: number;
  /** Headers that the response must have. It may have others. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tells whether a body is right, which is `undefined` if there is none. */
  readonly hasBody: (body: unknown) => boolean;
}

/** What the check sends to an operation besides an API key, and the response that it must get. */
interface OperationCheck {
  /** The id in the path. */
  readonly petId?: number | undefined;
  readonly query?: string;
  /** The body of the request, as JSON. */
  readonly body?: string;
  /** How often it is sent until the answer is right; once unless told otherwise. */
  readonly attempts?: number;
  readonly expected: Expected;
}

/** The target of a request: an operation, or the function of all other paths. */
type GoldenTarget = Pick<Operation, 'method' | 'path' | 'headers' | 'deprecation'> & {
  readonly name: FunctionName;
};

const unrouted: GoldenTarget = { name: 'unrouted', method: 'GET', path: '/{proxy+}', headers: [] };

/** The only pet that the checks add. Its status is sold, so that no client offers it. */
const checkPet = { name: 'Deployment check', categoryId: 0, status: 'sold' };

const OnlyPet = v.strictObject(Pet.entries);

/** Tells whether a value is a pet that has no other fields. */
const isPet = (value: unknown): value is Pet => v.is(OnlyPet, value);

/** Tells whether a value is the pet that the checks add. */
export const isCheckPet = (value: unknown): value is Pet =>
  isPet(value) &&
  value.name === checkPet.name &&
  value.categoryId === checkPet.categoryId &&
  value.status === checkPet.status;

const isPageOfOne = (body: unknown): boolean =>
  Array.isArray(body) && body.length === 1 && body.every(isPet);

const answeredWith = ({ status, headers, body }: ApiError): Expected => ({
  status,
  headers,
  hasBody: (given) => isDeepStrictEqual(given, body),
});

/**
 * Returns the requests that every operation refuses: one without an API key, and one with a
 * key that nobody has issued.
 */
export const refusals = (apiKey: string): GoldenRequest[] => {
  const unknownKey = generateApiKey(apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test');
  const expected = answeredWith(errors.unauthorized());
  return operations.flatMap((target) => [
    golden({ target, expected }),
    golden({ target, apiKey: unknownKey, expected }),
  ]);
};

/**
 * Returns the check of each operation. It must change nothing but add the one pet, whose id is `petId`. These
 * are not the examples of the contract, because clients must not be offered the pet.
 */
const operationChecks = (petId?: number): Readonly<Record<OperationName, OperationCheck>> => ({
  // Lists are eventually consistent, so it may miss the pet that the checks add.
  listPets: { query: 'limit=1', attempts: 3, expected: { status: 200, hasBody: isPageOfOne } },
  createPet: { body: JSON.stringify(checkPet), expected: { status: 201, hasBody: isCheckPet } },
  getPet: { petId, expected: { status: 200, hasBody: isCheckPet } },
});

/** Returns a creation with a fixed Idempotency-Key. Only the first one that is ever sent adds a pet. */
export const creation = (apiKey: string): GoldenRequest => goldenOf(createPet, apiKey);

/** A request to every other function; `petId` is that of the pet that the checks add. */
export const afterCreation = (apiKey: string, petId: number): GoldenRequest[] => [
  ...operations.filter((each) => each !== createPet).map((each) => goldenOf(each, apiKey, petId)),
  golden({ target: unrouted, apiKey, expected: answeredWith(errors.notFound()) }),
];

/** The request to an operation. Its answer is 410 from the operation's sunset on. */
const goldenOf = (target: Operation, apiKey: string, petId?: number): GoldenRequest => {
  const check = operationChecks(petId)[target.name];
  if (!isRemoved(target)) return golden({ ...check, target, apiKey });
  const removed = errors.endpointRemoved(`GET ${target.deprecation?.successor}`);
  return golden({ ...check, target, apiKey, expected: answeredWith(removed) });
};

/** Golden requests call functions directly, without an API. */
const api = { accountId: 'none', apiId: 'deployment-check' };

interface GoldenParts extends OperationCheck {
  readonly target: GoldenTarget;
  readonly apiKey?: string;
}

/** Returns a request in the form in which API Gateway calls a function, and the response that it must get. */
const golden = (parts: GoldenParts) => {
  const { target, apiKey, petId = 1, query = '', body = '', attempts = 1, expected } = parts;
  const { name, method, path: resourcePath } = target;
  const path = resourcePath.replace('{petId}', `${petId}`).replace('{proxy+}', 'unknown');
  const request = {
    ...newRequestIds(),
    method,
    path: `/v1${path}`,
    query,
    headers: Object.entries({
      'User-Agent': ownUserAgent,
      ...authorization(apiKey),
      ...(body !== '' && { 'Content-Type': 'application/json' }),
      ...(target.headers.includes('Idempotency-Key') && { 'Idempotency-Key': 'deployment-check' }),
    }),
    port: 443,
  };
  const pathParameters = resourcePath.includes('{petId}') ? { petId: `${petId}` } : {};
  return {
    functionName: name,
    attempts,
    event: proxyEvent(request, { api, stage: 'v1', path, resourcePath, pathParameters }, body),
    ...expected,
    headers: {
      ...(expected.status !== 204 && { 'Content-Type': 'application/json' }),
      'Cache-Control': 'no-store',
      ...deprecationHeaders(target),
      ...expected.headers,
    },
  };
};

const authorization = (apiKey: string | undefined) =>
  apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };

/** Returns the headers of a deprecated operation (RFC 9745, RFC 8594 and RFC 5829). */
const deprecationHeaders = ({ deprecation }: GoldenTarget) =>
  deprecation === undefined
    ? {}
    : {
        Deprecation: `@${deprecation.since.getTime() / 1_000}`,
        Sunset: deprecation.sunset.toUTCString(),
        Link: `</v1${deprecation.successor}>; rel="successor-version"`,
      };

/** A request to a function, and the response that it must get. */
export type GoldenRequest = ReturnType<typeof golden>;

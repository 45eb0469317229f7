import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { newRequestIds, proxyEvent } from '../api-gateway/proxy-event.ts';
import { type ApiError, errors } from '../contract/errors.ts';
import { createPet, getPet, listPets, type Operation, operations } from '../contract/operations.ts';
import { Pet } from '../contract/pet.ts';
import { generateApiKey } from '../keys/api-key.ts';

/** The answer that a request must get. */
interface Expected {
  readonly status: number;
  /** Headers that the answer must have; it may have others. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly hasBody: (body: unknown) => boolean;
}

/** What a request is sent to: an operation, or the function of all other paths. */
type Target = Omit<Operation, 'name'> & { readonly name: string };

const unrouted: Target = { name: 'unrouted', method: 'GET', path: '/{proxy+}' };

/** The one pet that all checks together add. Its status is sold, so that no client offers it. */
const checkPet = { name: 'Deployment check', categoryId: 0, status: 'sold' };

const OnlyPet = v.strictObject(Pet.entries);

/** Whether a value is a pet without other fields. */
const isPet = (value: unknown): value is Pet => v.is(OnlyPet, value);

/** Whether a value is the pet that the checks add. */
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

/** Requests that every operation refuses: without an API key, and with one that nobody has issued. */
export const refusals = (apiKey: string): GoldenRequest[] => {
  const unknownKey = generateApiKey(apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test');
  const expected = answeredWith(errors.unauthorized());
  return operations.flatMap((target) => [
    golden({ target, expected }),
    golden({ target, apiKey: unknownKey, expected }),
  ]);
};

/** A creation under a fixed Idempotency-Key: only the first one ever adds a pet. */
export const creation = (apiKey: string): GoldenRequest =>
  golden({
    target: createPet,
    apiKey,
    body: JSON.stringify(checkPet),
    expected: { status: 201, hasBody: isCheckPet },
  });

/** A list of one pet. It is eventually consistent, so it may miss the pet that the checks add. */
export const list = (apiKey: string): GoldenRequest =>
  golden({
    target: listPets,
    apiKey,
    query: 'limit=1',
    expected: { status: 200, hasBody: isPageOfOne },
  });

/** Requests that see every earlier write; `petId` is that of the pet that the checks add. */
export const reads = (apiKey: string, petId: number): GoldenRequest[] => [
  golden({ target: getPet, apiKey, petId, expected: expectedOfGetPet() }),
  golden({ target: unrouted, apiKey, expected: answeredWith(errors.notFound()) }),
];

/** The pet that the checks add, or 410 from the sunset on. */
const expectedOfGetPet = (): Expected => {
  const { deprecation } = getPet;
  if (deprecation && Date.now() >= deprecation.sunset.getTime()) {
    return answeredWith(errors.endpointRemoved(`GET ${deprecation.successor}`));
  }
  return { status: 200, hasBody: isCheckPet };
};

/** Golden requests reach functions without an API. */
const api = { accountId: 'none', apiId: 'deployment-check' };

interface GoldenParts {
  readonly target: Target;
  readonly apiKey?: string;
  readonly petId?: number;
  readonly query?: string;
  /** JSON. */
  readonly body?: string;
  readonly expected: Expected;
}

/** A request in the form in which API Gateway calls a function, and the answer that it must get. */
const golden = ({ target, apiKey, petId = 1, query = '', body = '', expected }: GoldenParts) => {
  const { name, method, path: resourcePath } = target;
  const path = resourcePath.replace('{petId}', `${petId}`).replace('{proxy+}', 'unknown');
  const request = {
    ...newRequestIds(),
    method,
    path: `/v1${path}`,
    query,
    headers: Object.entries({ ...authorization(apiKey), ...bodyHeaders(body) }),
    port: 443,
  };
  const pathParameters = resourcePath.includes('{petId}') ? { petId: `${petId}` } : {};
  return {
    functionName: name,
    event: proxyEvent(request, { api, stage: 'v1', path, resourcePath, pathParameters }, body),
    ...expected,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...deprecationHeaders(target),
      ...expected.headers,
    },
  };
};

const authorization = (apiKey: string | undefined) =>
  apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };

const bodyHeaders = (body: string) =>
  body === '' ? {} : { 'Content-Type': 'application/json', 'Idempotency-Key': 'deployment-check' };

/** The headers of a deprecated operation (RFC 9745, RFC 8594 and RFC 5829). */
const deprecationHeaders = ({ deprecation }: Target) =>
  deprecation === undefined
    ? {}
    : {
        Deprecation: `@${deprecation.since.getTime() / 1_000}`,
        Sunset: deprecation.sunset.toUTCString(),
        Link: `</v1${deprecation.successor}>; rel="successor-version"`,
      };

/** A request to a function, and the answer that it must get. */
export type GoldenRequest = ReturnType<typeof golden>;

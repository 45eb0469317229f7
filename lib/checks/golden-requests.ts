import { isDeepStrictEqual } from 'node:util';
import { newRequestIds, proxyEvent } from '../api-gateway/proxy-event.ts';
import type { Pet } from '../contract/bodies.ts';
import { type ApiError, errors } from '../contract/errors.ts';
import { createPet, getPet, listPets, type Operation, operations } from '../contract/operations.ts';
import { toPet } from '../contract/pet.ts';
import { generateApiKey } from '../keys/api-key.ts';

/** The answer that a request must get. */
interface Expected {
  readonly status: number;
  /** Headers that the answer must have; it may have others. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly hasBody: (body: unknown) => boolean;
}

/** The one pet that all checks together add. Its status is sold, so that no client offers it. */
const checkPet = { name: 'Deployment check', categoryId: 0, status: 'sold' };

/** Whether a value is the pet that the checks add. */
export const isCheckPet = (value: unknown): value is Pet =>
  isDeepStrictEqual(value, { ...toPet(Object(value)), ...checkPet });

const answeredWith = ({ status, headers, body }: ApiError): Expected => ({
  status,
  headers,
  hasBody: (given) => isDeepStrictEqual(given, body),
});

/** Requests that every operation refuses: without an API key, and with one that nobody has issued. */
export const refusals = (apiKey: string): GoldenRequest[] => {
  const unknown = generateApiKey(apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test');
  const refused = answeredWith(errors.unauthorized());
  return operations.flatMap((operation) =>
    [undefined, unknown].map((key) => golden(operation, key, refused)),
  );
};

/** A creation under a fixed Idempotency-Key: only the first one ever adds a pet. */
export const creation = (key: string): GoldenRequest =>
  golden(createPet, key, { status: 201, hasBody: isCheckPet }, { body: JSON.stringify(checkPet) });

/** A list of one pet. It is eventually consistent, so it may miss the pet that the checks add. */
export const list = (key: string): GoldenRequest => {
  const isPage = (body: unknown) =>
    Array.isArray(body) && body.length === 1 && isDeepStrictEqual(body, body.map(toPet));
  return golden(listPets, key, { status: 200, hasBody: isPage }, { query: 'limit=1' });
};

/** Requests that see every earlier write; `id` is that of the pet that the checks add. */
export const reads = (key: string, id: number): GoldenRequest[] => {
  const { sunset, successor } = getPet.deprecation ?? {};
  const isRemoved = sunset && Date.now() >= sunset.getTime();
  const unrouted = { name: 'unrouted', method: 'GET', path: '/{proxy+}' } as const;
  const removed = answeredWith(errors.endpointRemoved(`GET ${successor}`));
  return [
    golden(getPet, key, isRemoved ? removed : { status: 200, hasBody: isCheckPet }, { id }),
    golden(unrouted, key, answeredWith(errors.notFound())),
  ];
};

/** Golden requests reach functions without an API. */
const api = { accountId: 'none', apiId: 'deployment-check' };

/** A request in the form in which API Gateway calls a function, and the answer that it must get. */
const golden = (
  { name, method, path: resourcePath, deprecation }: Omit<Operation, 'name'> & { name: string },
  key: string | undefined,
  expected: Expected,
  { id = 1, query = '', body = '' }: { id?: number; query?: string; body?: string } = {},
) => {
  const path = resourcePath.replace('{petId}', `${id}`).replace('{proxy+}', 'unknown');
  const request = {
    ...newRequestIds(),
    method,
    path: `/v1${path}`,
    query,
    headers: Object.entries({
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': 'deployment-check' }),
    }),
    port: 443,
  };
  const pathParameters = resourcePath.includes('{petId}') ? { petId: `${id}` } : {};
  return {
    functionName: name,
    event: proxyEvent(request, { api, stage: 'v1', path, resourcePath, pathParameters }, body),
    ...expected,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      // RFC 9745, RFC 8594 and RFC 5829.
      ...(deprecation && {
        Deprecation: `@${deprecation.since.getTime() / 1_000}`,
        Sunset: deprecation.sunset.toUTCString(),
        Link: `</v1${deprecation.successor}>; rel="successor-version"`,
      }),
      ...expected.headers,
    },
  };
};

/** A request to a function, and the answer that it must get. */
export type GoldenRequest = ReturnType<typeof golden>;

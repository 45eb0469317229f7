import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { generateApiKey } from '../../lib/contract/api-key.ts';
import type { Pet } from '../../lib/contract/bodies.ts';
import { type ApiError, errors } from '../../lib/contract/errors.ts';
import {
  createPet,
  getPet,
  listPets,
  type Operation,
  type OperationName,
  operations,
} from '../../lib/contract/operations.ts';
import { toPet } from '../../lib/contract/pet.ts';
import { newRequestIds, proxyEvent } from '../local/gateway/proxy-event.ts';

/** A request to a function, and the answer that it must get. */
export interface GoldenRequest extends Expected {
  readonly functionName: Called['name'];
  readonly event: APIGatewayProxyEvent;
}

interface Expected {
  readonly status: number;
  /** Headers that the answer must have; it may have others. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: (body: unknown) => boolean;
}

type Called = Omit<Operation, 'name'> & { readonly name: OperationName | 'unrouted' };

/** The one pet that all checks together add. It counts as sold, so that no client offers it to anybody. */
const checkPet = { name: 'Deployment check', categoryId: 0, status: 'sold' };

/** Whether a value has the fields of a pet, and no others. Throws for a value of another type. */
const isPet = (value: unknown) => isDeepStrictEqual(value, toPet(Object(value)));

/** Whether a value is the pet that the checks add. */
export const isCheckPet = (value: unknown): value is Pet =>
  isPet(value) && isDeepStrictEqual(value, { ...Object(value), ...checkPet });

const answeredWith = ({ status, headers, body }: ApiError): Expected => ({
  status,
  headers,
  hasBody: (given) => isDeepStrictEqual(given, body),
});

/** Requests that every operation refuses: without an API key, and with one that nobody has issued. */
export const refusals = (apiKey: string): GoldenRequest[] => {
  const prefix = apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test';
  return operations.flatMap((operation) =>
    [undefined, generateApiKey(prefix)].map((key) =>
      golden(operation, { key }, answeredWith(errors.unauthorized())),
    ),
  );
};

/** A creation under a fixed Idempotency-Key: only the first one ever adds a pet. */
export const creation = (key: string): GoldenRequest => {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'deployment-check' };
  const body = JSON.stringify(checkPet);
  return golden(
    createPet,
    { key, headers, body },
    { status: 201, headers: {}, hasBody: isCheckPet },
  );
};

/** Requests that only read; `id` is that of the pet that the checks add. */
export const reads = (key: string, id: number): GoldenRequest[] => {
  const { sunset, successor } = getPet.deprecation ?? {};
  const isRemoved = sunset && Date.now() >= sunset.getTime();
  const unrouted: Called = { name: 'unrouted', method: 'GET', path: '/{proxy+}' };
  const isPage = (body: unknown) => Array.isArray(body) && body.length === 1 && isPet(body[0]);
  return [
    golden(listPets, { key, query: 'limit=1' }, { status: 200, headers: {}, hasBody: isPage }),
    golden(
      getPet,
      { key, id },
      isRemoved
        ? answeredWith(errors.endpointRemoved(`GET ${successor}`))
        : { status: 200, headers: {}, hasBody: isCheckPet },
    ),
    golden(unrouted, { key }, answeredWith(errors.notFound())),
  ];
};

interface RequestParts {
  readonly key?: string | undefined;
  readonly id?: number;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request as API Gateway sends it to a function, as far as that was recorded (`proxyEvent`). */
const golden = (
  { name, method, path: resourcePath, deprecation }: Called,
  { key, id = 1, query = '', headers = {}, body = '' }: RequestParts,
  expected: Expected,
): GoldenRequest => {
  const path = resourcePath.replace('{petId}', `${id}`).replace('{proxy+}', 'unknown');
  const request = {
    ...newRequestIds(),
    method,
    path: `/v1${path}`,
    query,
    headers: Object.entries({ ...headers, ...(key && { Authorization: `Bearer ${key}` }) }),
    port: 443,
  };
  const pathParameters = resourcePath.includes('{petId}') ? { petId: `${id}` } : {};
  return {
    functionName: name,
    event: proxyEvent(request, { stage: 'v1', path, resourcePath, pathParameters }, body),
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

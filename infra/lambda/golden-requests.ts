import { randomUUID } from 'node:crypto';
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
import { proxyEvent } from '../local/gateway/proxy-event.ts';

/** A request to a function, and the answer that it must get. */
export interface GoldenRequest {
  readonly functionName: OperationName | 'unrouted';
  readonly event: APIGatewayProxyEvent;
  readonly status: number;
  /** Headers that the answer must have; it may have others. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: (body: unknown) => boolean;
}

/** The one pet that all checks together add. It counts as sold, so that no client offers it to anybody. */
const checkPet = { name: 'Deployment check', categoryId: 0, status: 'sold' };

/** Whether a value has the fields of a pet, and no others. Throws for a value of another type. */
const isPet = (value: unknown) => isDeepStrictEqual(value, toPet(Object(value)));

/** Whether a value is the pet that the checks add. */
export const isCheckPet = (value: unknown): value is Pet =>
  isPet(value) && isDeepStrictEqual(value, { ...Object(value), ...checkPet });

const json = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

/** The headers of every answer of an operation: RFC 9745, RFC 8594, RFC 5829. */
const headersOf = ({ deprecation }: Operation) => ({
  ...json,
  ...(deprecation && {
    Deprecation: `@${deprecation.since.getTime() / 1_000}`,
    Sunset: deprecation.sunset.toUTCString(),
    Link: `</v1${deprecation.successor}>; rel="successor-version"`,
  }),
});

const answeredWith = ({ status, headers, body }: ApiError, all = json) => ({
  status,
  headers: { ...all, ...headers },
  hasBody: (given: unknown) => isDeepStrictEqual(given, body),
});

/** Requests that every operation refuses: without an API key, and with one that nobody has issued. */
export const refusals = (apiKey: string): GoldenRequest[] => {
  const prefix = apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test';
  return operations.flatMap((operation) =>
    [undefined, generateApiKey(prefix)].map((key) => ({
      functionName: operation.name,
      event: eventOf(operation, { key }),
      ...answeredWith(errors.unauthorized(), headersOf(operation)),
    })),
  );
};

/** A creation under a fixed Idempotency-Key: only the first one ever adds a pet. */
export const creation = (key: string): GoldenRequest => ({
  functionName: 'createPet',
  event: eventOf(createPet, {
    key,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'deployment-check' },
    body: JSON.stringify(checkPet),
  }),
  status: 201,
  headers: headersOf(createPet),
  hasBody: isCheckPet,
});

/** Requests that only read; `id` is that of the pet that the checks add. */
export const reads = (key: string, id: number): GoldenRequest[] => {
  const { sunset, successor } = getPet.deprecation ?? {};
  return [
    {
      functionName: 'listPets',
      event: eventOf(listPets, { key, query: 'limit=1' }),
      status: 200,
      headers: headersOf(listPets),
      hasBody: (body) => Array.isArray(body) && body.length === 1 && isPet(body[0]),
    },
    {
      functionName: 'getPet',
      event: eventOf(getPet, { key, id }),
      ...(sunset && Date.now() >= sunset.getTime()
        ? answeredWith(errors.endpointRemoved(`GET ${successor}`), headersOf(getPet))
        : { status: 200, headers: headersOf(getPet), hasBody: isCheckPet }),
    },
    {
      functionName: 'unrouted',
      event: eventOf({ method: 'GET', path: '/{proxy+}' }, { key }),
      ...answeredWith(errors.notFound()),
    },
  ];
};

interface RequestParts {
  readonly key?: string | undefined;
  readonly id?: number;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The event that API Gateway sends for a request, as far as it was recorded (`proxyEvent`). */
const eventOf = (
  { method, path: resourcePath }: Pick<Operation, 'method' | 'path'>,
  { key, id = 1, query = '', headers = {}, body = '' }: RequestParts,
): APIGatewayProxyEvent => {
  const path = resourcePath.replace('{petId}', `${id}`).replace('{proxy+}', 'unknown');
  const request = {
    requestId: randomUUID(),
    extendedRequestId: 'before-traffic=',
    traceId: 'Root=1-00000000-000000000000000000000000',
    method,
    path: `/v1${path}`,
    query,
    headers: Object.entries({ ...headers, ...(key && { Authorization: `Bearer ${key}` }) }),
    sourceIp: '127.0.0.1',
    port: 443,
    protocol: 'HTTP/1.1',
  };
  const pathParameters = resourcePath.includes('{petId}') ? { petId: `${id}` } : {};
  const route = { resourcePath, resourceId: 'before-traffic' };
  return proxyEvent(request, { route, pathParameters }, { stage: 'v1', path }, body);
};

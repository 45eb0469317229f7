import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { type ApiError, errors } from '../contract/errors.ts';
import { ownUserAgent } from '../contract/own-user-agent.ts';
import type { FunctionName } from '../contract/routes.ts';
import { createDirectEvent } from '../gateway-events/create-direct-event.ts';
import { generateApiKey } from '../keys/api-key.ts';
import { deprecationHeaders, type Operation, removalOf } from '../operations/operation.ts';
import type { ExampleRequest } from '../operations/operation-details.ts';
import { detailsOf, operations, refusedRequestOf } from '../operations/operations.ts';

/** The target of a request: an operation, or the function of all other paths. */
type Target = Pick<Operation, 'method' | 'path' | 'deprecation'> & { readonly name: FunctionName };

const fallback: Target = { name: 'fallback', method: 'GET', path: '/{proxy+}' };

/** A response with these headers, and others. Its body is right if `hasBody` says so. */
interface ExpectedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly hasBody: (body: unknown) => boolean;
}

/** Returns the response that an error becomes, with its own status, headers and body. */
const errorResponse = ({ status, headers, body }: ApiError): ExpectedResponse => ({
  status,
  headers,
  hasBody: (given) => isDeepStrictEqual(given, body),
});

/**
 * Returns what the check before traffic sends: to every operation a request without an API key, one with a
 * key that nobody has issued, and one with the key of the probe. None of them adds or changes anything.
 */
export const checkRequests = (apiKey: string): readonly CheckRequest[] => {
  const unknownKey = generateApiKey(apiKey.startsWith('pets_live') ? 'pets_live' : 'pets_test');
  const unauthorized = errorResponse(errors.unauthorized());
  return [
    ...operations.flatMap((operation) => {
      const { request, response } = harmless(operation);
      return [
        toCheckRequest(operation, request, unauthorized),
        toCheckRequest(operation, request, unauthorized, unknownKey),
        toCheckRequest(operation, request, response, apiKey),
      ];
    }),
    toCheckRequest(fallback, {}, errorResponse(errors.unknownPath()), apiKey),
  ];
};

/**
 * Returns a request that changes nothing, and its response: a wrong request if the operation could change
 * something, and otherwise its example, with an id that nothing has.
 */
const harmless = (operation: Operation) => {
  const refused = operation.method === 'GET' ? undefined : refusedRequestOf(operation);
  const { query = {} } = detailsOf(operation.name).example.request;
  const notFound = operation.path.includes('{') ? errors.notFound() : undefined;
  const error = removalOf(operation) ?? refused?.error ?? notFound;
  const { successStatus: status, response: schema = v.undefined() } = operation;
  const success = { status, hasBody: (body: unknown) => v.is(schema, body) };
  return {
    request: refused?.request ?? { query },
    response: error ? errorResponse(error) : success,
  };
};

/** Creates a check request. Without an API key, its event has no `Authorization`. */
const toCheckRequest = (
  target: Target,
  request: ExampleRequest,
  response: ExpectedResponse,
  apiKey?: string,
) => ({
  functionName: target.name,
  event: createDirectEvent(target, request, {
    'User-Agent': ownUserAgent,
    ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
  }),
  response: {
    ...response,
    headers: {
      ...(response.status !== 204 && { 'Content-Type': 'application/json' }),
      'Cache-Control': 'no-store',
      ...(target.deprecation && deprecationHeaders(target.deprecation)),
      ...response.headers,
    },
  },
});

/** An event for a function, and the response that the function must return. */
export type CheckRequest = ReturnType<typeof toCheckRequest>;

import type { APIGatewayProxyResult } from 'aws-lambda';
import type { GenericSchema } from 'valibot';
import type { ApiError } from '../contract/errors.ts';
import { stringifyJson } from '../contract/exact-json.ts';
import type { OperationEvent } from './chain-types.ts';

/** Returns the successful response of an operation, whose body is what its definition declares. */
export const success = <Body>(
  definition: { readonly successStatus: number; readonly response: GenericSchema<unknown, Body> },
  body: NoInfer<Readonly<Body>>,
  headers?: Readonly<Record<string, string>>,
) => json(definition.successStatus, body, headers);

/** Returns the response for an error. */
export const failure = ({ status, body, headers }: ApiError) => json(status, body, headers);

/** Returns a response with a JSON body. No cache may store it, because it depends on the API key. */
const json = (
  statusCode: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  body: stringifyJson(body),
});

/** Returns a response without a body. */
export const noContent = (
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode: 204,
  headers: { 'Cache-Control': 'no-store', ...headers },
  body: '',
});

/**
 * Returns the web link (RFC 8288) to the path of the operation that replaces this one. Links have no host,
 * so that they work under every domain name of the API.
 */
export const successorLink = (event: OperationEvent, path: string): string =>
  `<${basePathOf(event)}${path}>; rel="successor-version"`;

/**
 * Returns the `Link` header to the next page, if there is one. The link has the same query and the cursor.
 */
export const nextLink = (
  event: OperationEvent,
  query: Readonly<Record<string, string | number | bigint | undefined>>,
  cursor: string | undefined,
) => {
  if (cursor === undefined) return {};
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, cursor })) {
    if (value !== undefined) next.set(name, `${value}`);
  }
  return { Link: `<${pathOf(event)}?${next}>; rel="next"` };
};

/**
 * Returns the request's own path. API Gateway ignores a slash at the end, but passes it on to the function.
 */
const pathOf = ({ requestContext }: OperationEvent): string =>
  requestContext.path.replace(/\/$/, '');

/**
 * Returns the request's own path up to the resource: the stage, or a custom domain's base path, which
 * replaces the stage in the path (localstack/localstack#12295).
 */
const basePathOf = (event: OperationEvent): string => {
  const depth = event.resource.split('/').length - 1;
  return pathOf(event).split('/').slice(0, -depth).join('/');
};

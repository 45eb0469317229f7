import { apiVersion } from '../contract/api-version.ts';
import type { ApiError } from '../contract/errors.ts';
import { allowedMethods } from '../contract/routes.ts';
import { definition as getPet } from '../operations/get-pet.ts';
import { definition as listPets } from '../operations/list-pets.ts';
import { deprecationHeaders, type Operation } from '../operations/operation.ts';
import { detailsOf } from '../operations/operations.ts';

const { nextPage } = detailsOf('listPets').example;
const deprecated = getPet.deprecation && deprecationHeaders(getPet.deprecation);

/** `Link` is here twice: as `NextLink` and as `SuccessorLink`. */
const descriptions = {
  'Cache-Control': {
    description: 'Caches must not store the response: it depends on the API key.',
    example: 'no-store',
  },
  'x-amz-apigw-id': {
    description: 'Identifies the request. Quote it when you report a problem.',
    example: 'ATfSdF7nPHcErRA=',
  },
  NextLink: {
    description:
      'Address of the next page, relative to the address of this page (RFC 8288). The last page has no `Link`.',
    example: `</${apiVersion}${listPets.path}?${new URLSearchParams(nextPage)}>; rel="next"`,
  },
  'Idempotent-Replayed': {
    description:
      'An earlier request with this `Idempotency-Key` added what the body shows. Without this header, this request or an earlier one added it.',
    example: 'true',
  },
  Deprecation: {
    description: 'When the operation was deprecated, in seconds since 1970 (RFC 9745).',
    example: deprecated?.Deprecation,
  },
  Sunset: {
    description: 'When the operation will be removed (RFC 8594).',
    example: deprecated?.Sunset,
  },
  SuccessorLink: {
    description: 'The operation to use instead (RFC 8288, RFC 5829).',
    example: `</${apiVersion}${getPet.deprecation?.successor}>; rel="successor-version"`,
  },
  Accept: {
    description: 'The media type that the operation accepts (RFC 9110).',
    example: 'application/json',
  },
  'Accept-Encoding': {
    description: 'The content coding that the operation accepts (RFC 9110).',
    example: 'identity',
  },
  Allow: {
    description: 'The methods that the path supports.',
    example: allowedMethods(listPets.path).join(', '),
  },
  'Retry-After': {
    description: 'Seconds to wait before you repeat the request.',
    example: '1',
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme (RFC 6750), when API Gateway rejects the request.',
    example: 'Bearer',
  },
  'x-amzn-remapped-www-authenticate': {
    description:
      'The authentication scheme, when the service rejects the request: API Gateway renames `WWW-Authenticate`.',
    example: 'Bearer',
  },
};

const schema = { type: 'string' };

/**
 * The headers that the service sends, by name. None has a rule or is required, because proxies and browsers
 * remove headers, and a generated client would then refuse the response.
 */
export const headers: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(descriptions).map(([name, { description, example }]) => [
    name,
    { description, schema, example },
  ]),
);

/** Returns a reference to a header. */
export const header = (name: string) => ({ $ref: `#/components/headers/${name}` });

/** The headers of a response: its own, and those of every response of the operation, error or not. */
export const headersOf = (
  { deprecation, stability }: Operation,
  own: Readonly<Record<string, object>>,
): Readonly<Record<string, object>> => ({
  'Cache-Control': header('Cache-Control'),
  'x-amz-apigw-id': header('x-amz-apigw-id'),
  ...(deprecation && {
    Deprecation: header('Deprecation'),
    Sunset: header('Sunset'),
    Link: header('SuccessorLink'),
  }),
  ...(stability && {
    'X-Stability': {
      description: 'The operation may change within this version.',
      schema,
      example: stability,
    },
  }),
  ...own,
});

/** The headers of an error. API Gateway renames `WWW-Authenticate` when a function sends it. */
export const headersOfError = (error: ApiError) =>
  Object.fromEntries(
    Object.keys(error.headers)
      .flatMap((name) =>
        name === 'WWW-Authenticate' ? [name, `x-amzn-remapped-${name.toLowerCase()}`] : name,
      )
      .map((name) => [name, header(name)]),
  );

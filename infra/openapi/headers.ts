import type { ApiError } from '../../lib/contract/errors.ts';
import { allowedMethods, getPet, listPets, type Operation } from '../../lib/contract/operations.ts';

const since = (getPet.deprecation?.since.getTime() ?? 0) / 1_000;

/** The headers that clients may rely on, by name; of `Link` there are two. */
export const headers: Readonly<Record<string, object>> = {
  'Cache-Control': {
    description: 'No cache may store the response: it depends on the API key.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'x-amzn-RequestId': {
    description: 'Request ID. Quote it when you report a problem.',
    required: true,
    schema: { type: 'string' },
    example: '0b5f3d6e-7a53-4b0e-9d3c-5f1f2c6b7a10',
  },
  ETag: {
    description:
      'Identifies this version of the body. Send it as `If-None-Match` to get 304 instead of the same body (RFC 9110).',
    required: true,
    schema: { type: 'string', pattern: '^"[\\w-]{43}"$' },
    example: '"vZ_ntEUTgTOaGjBG3whJRfYfzbKLDHKxNVXOsqZQKpw"',
  },
  NextLink: {
    description:
      'Address of the next page (RFC 8288), relative to the address of this one. Only the last page has none.',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/pets?limit=20&cursor=AAAcFgyVVVVVVosXT2bK>; rel="next"',
  },
  Deprecation: {
    description: 'When the operation was deprecated, in seconds since 1970 (RFC 9745).',
    schema: { type: 'string', pattern: '^@[0-9]+$' },
    example: `@${since}`,
  },
  Sunset: {
    description: 'When the operation is removed (RFC 8594).',
    schema: {
      type: 'string',
      pattern: '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$',
    },
    example: getPet.deprecation?.sunset.toUTCString(),
  },
  SuccessorLink: {
    description: 'The operation to use instead (RFC 8288, RFC 5829).',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="successor-version"$' },
    example: `</v1${getPet.deprecation?.successor}>; rel="successor-version"`,
  },
  Allow: {
    description: 'The methods of the path.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
    example: allowedMethods(listPets.path).join(', '),
  },
  'Retry-After': {
    description: 'Seconds to wait before you send the request again.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1',
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme (RFC 6750), when API Gateway refuses the request.',
    schema: { type: 'string', const: 'Bearer' },
  },
  'x-amzn-remapped-www-authenticate': {
    description:
      '`WWW-Authenticate`, which API Gateway renames when the service refuses the request.',
    schema: { type: 'string', const: 'Bearer' },
  },
};

type HeaderMap = Readonly<Record<string, object>>;

const header = (name: string) => {
  if (!Object.hasOwn(headers, name)) throw new Error(`The header ${name} is not described`);
  return { $ref: `#/components/headers/${name}` };
};

/** The headers of every response of an operation, error or not. */
export const headersOf = ({ deprecation, stability }: Operation): HeaderMap => ({
  'Cache-Control': header('Cache-Control'),
  'x-amzn-RequestId': header('x-amzn-RequestId'),
  ...(deprecation && {
    Deprecation: header('Deprecation'),
    Sunset: header('Sunset'),
    Link: header('SuccessorLink'),
  }),
  ...(stability && {
    'X-Stability': {
      description: 'The operation may change within this version.',
      schema: { type: 'string', const: stability },
    },
  }),
});

/** The header of a page that has a next one. */
export const nextLink: HeaderMap = { Link: header('NextLink') };

/** The header of a body that a client can ask for again only if it has changed. */
export const entityTag: HeaderMap = { ETag: header('ETag') };

/** The headers of an error. Throws for a header that is not described. */
export const headersOfError = (error: ApiError): HeaderMap =>
  Object.fromEntries(
    Object.keys(error.headers)
      // API Gateway renames it where a function sends it.
      .flatMap((name) =>
        name === 'WWW-Authenticate' ? [name, `x-amzn-remapped-${name.toLowerCase()}`] : name,
      )
      .map((name) => [name, header(name)]),
  );

import type { ApiError } from '../../lib/contract/errors.ts';
import { allowedMethods, getPet, listPets, type Operation } from '../../lib/contract/operations.ts';

const since = (getPet.deprecation?.since.getTime() ?? 0) / 1_000;

/** The headers that clients may rely on, by name; of `Link` there are two. */
export const headers: Readonly<Record<string, object>> = {
  'Cache-Control': {
    description: 'An answer depends on the API key, so nothing on its way may keep it.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'x-amzn-RequestId': {
    description: 'Names the request, for a question about it.',
    required: true,
    schema: { type: 'string' },
    example: '0b5f3d6e-7a53-4b0e-9d3c-5f1f2c6b7a10',
  },
  ETag: {
    description:
      'Names the body as it is: sent back as `If-None-Match`, it saves getting it again (RFC 9110).',
    required: true,
    schema: { type: 'string', pattern: '^"[\\w-]{43}"$' },
    example: '"vZ_ntEUTgTOaGjBG3whJRfYfzbKLDHKxNVXOsqZQKpw"',
  },
  NextLink: {
    description:
      'Leads to the next page (RFC 8288), relative to the address of this one. Absent on the last page only: a page that is shorter than `limit`, or empty, can have it.',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/pets?limit=20&cursor=AAAcFgyVVVVVVosXT2bK>; rel="next"',
  },
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745), in seconds since 1970.',
    schema: { type: 'string', pattern: '^@[0-9]+$' },
    example: `@${since}`,
  },
  Sunset: {
    description: 'When the operation ends (RFC 8594).',
    schema: {
      type: 'string',
      pattern: '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$',
    },
    example: getPet.deprecation?.sunset.toUTCString(),
  },
  SuccessorLink: {
    description: 'Leads to what takes the place of the operation (RFC 8288, RFC 5829).',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="successor-version"$' },
    example: `</v1${getPet.deprecation?.successor}>; rel="successor-version"`,
  },
  Allow: {
    description: 'The methods that the path has.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
    example: allowedMethods(listPets.path).join(', '),
  },
  'Retry-After': {
    description: 'How long to wait before the request is sent again, in seconds.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1',
  },
  'WWW-Authenticate': {
    description: 'The scheme of the API key (RFC 6750), where the gateway has refused the request.',
    schema: { type: 'string', const: 'Bearer' },
  },
  'x-amzn-remapped-www-authenticate': {
    description:
      '`WWW-Authenticate` as API Gateway hands it on, where the service has refused the request.',
    schema: { type: 'string', const: 'Bearer' },
  },
};

type HeaderMap = Readonly<Record<string, object>>;

const header = (name: string) => {
  if (!Object.hasOwn(headers, name)) throw new Error(`The header ${name} is not described`);
  return { $ref: `#/components/headers/${name}` };
};

/** The headers of every answer of an operation, error or not. */
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

/** The header of a page that leads to the next one. */
export const nextLink: HeaderMap = { Link: header('NextLink') };

/** The header of a body that a client can ask for again only if it has changed. */
export const entityTag: HeaderMap = { ETag: header('ETag') };

/** The headers that an error brings with it. Throws for one that is not described. */
export const headersOfError = (error: ApiError): HeaderMap =>
  Object.fromEntries(
    Object.keys(error.headers)
      // API Gateway renames it where a function sends it.
      .flatMap((name) =>
        name === 'WWW-Authenticate' ? [name, `x-amzn-remapped-${name.toLowerCase()}`] : name,
      )
      .map((name) => [name, header(name)]),
  );

import { refusal } from '../contract/errors.ts';
import {
  parseHeaders,
  parsePath,
  parseQuery,
  type RequestSchema,
} from '../contract/parse-request.ts';
import type { RequestWith } from './chain-types.ts';
import { headerValues } from './header-values.ts';

/**
 * Parses the query into `event.input.query`. Throws `invalid_request` for wrong, unknown and repeated
 * parameters.
 */
export const queryParameters = <Query>(schema: RequestSchema<Query>) => ({
  before: ({ event }: RequestWith<unknown, { input: { query: Query } }>) => {
    const sent = Object.entries(event.multiValueQueryStringParameters ?? {});
    event.input = { query: parseQuery(schema, onlyValues(sent, schema)) };
  },
});

/**
 * Parses the headers that an operation takes into `event.input.headers`, and the parameters in its path into
 * `event.input.path`. Throws `invalid_request` for a wrong or repeated header, and `not_found` for a wrong
 * path.
 */
export const headersAndPath = <Headers, Path>(schemas: {
  readonly headers: RequestSchema<Headers>;
  readonly path: RequestSchema<Path>;
}) => ({
  before: ({ event }: RequestWith<unknown, { input: { headers: Headers; path: Path } }>) => {
    const sent = Object.keys(schemas.headers.entries)
      .map((name) => [name, headerValues(event, name.toLowerCase())] as const)
      .filter(([, values]) => values.length > 0);
    event.input.headers = parseHeaders(schemas.headers, onlyValues(sent, schemas.headers));
    event.input.path = parsePath(schemas.path, event.pathParameters ?? {});
  },
});

/** Returns the first value of each parameter. Throws `invalid_request` if a known one has several values. */
const onlyValues = (
  parameters: readonly (readonly [name: string, values: readonly string[] | undefined])[],
  { entries }: RequestSchema<unknown>,
): Record<string, string | undefined> => {
  const repeated = parameters.filter(
    ([name, values]) => (values?.length ?? 0) > 1 && Object.hasOwn(entries, name),
  );
  if (repeated.length > 0) throw refusal(repeated.map(([name]) => `${name} must not be repeated`));
  return Object.fromEntries(parameters.map(([name, values]) => [name, values?.[0]]));
};

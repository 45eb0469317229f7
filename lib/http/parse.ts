import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { errors } from '../contract/errors.ts';

/** What a client sent, as the schema's type. Throws `invalid_request` that names each offending field. */
export const parse = <Schema extends z.ZodMiniType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> => {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw errors.invalidRequest(`${result.error.issues.map(describe).join('; ')}.`);
};

const describe = (issue: z.core.$ZodIssue): string =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map(notKnown).join('; ')
    : [...issue.path, issue.message].join(' ');

/** A client's field or parameter name as an error message may show it: short and plain, or not at all. */
export const printableName = (name: string): string =>
  /^(?!pets_(live|test)_)[\w.$-]{1,32}$/.test(name) ? name : 'a field with an unprintable name';

const notKnown = (name: string) => `${printableName(name)} is not known`;

/** The query parameters of a request. Throws `invalid_request` for one that is given twice. */
export const queryOf = (event: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>) =>
  Object.fromEntries(
    Object.entries(event.multiValueQueryStringParameters ?? {}).map(([name, values = []]) => {
      if (values.length > 1) throw errors.invalidRequest(`${printableName(name)} is given twice.`);
      return [name, values[0]];
    }),
  );

/** For an operation without query parameters. Throws `invalid_request` for a query. */
export const refuseQuery = (
  event: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>,
) => {
  const names = Object.keys(queryOf(event));
  if (names.length > 0) throw errors.invalidRequest(`${names.map(notKnown).join('; ')}.`);
};

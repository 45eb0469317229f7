import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { errors } from './api-error.ts';
import { printableName } from './json.ts';

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
    ? issue.keys.map((key) => `${printableName(key)} is not known`).join('; ')
    : [...issue.path, issue.message].join(' ');

/** The query parameters of a request. Throws `invalid_request` for one that is given twice. */
export const queryOf = (event: Pick<APIGatewayProxyEvent, 'multiValueQueryStringParameters'>) =>
  Object.fromEntries(
    Object.entries(event.multiValueQueryStringParameters ?? {}).map(([name, values = []]) => {
      if (values.length > 1) throw errors.invalidRequest(`${printableName(name)} is given twice.`);
      return [name, values[0]];
    }),
  );

/** The query of an operation that has no parameters. */
export const NoQuery = z.strictObject({});

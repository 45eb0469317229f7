import * as v from 'valibot';
import { errors, type Kind, notKnown, refusal } from './errors.ts';
import { isRecord } from './is-record.ts';

/** The schema of a part of a request: the parameters in its path, its query or its headers, or its body. */
export interface RequestSchema<Output> extends v.GenericSchema<unknown, Output> {
  readonly entries: v.ObjectEntries;
}

/** Parses a body. Throws `invalid_request`, which names each wrong and each unknown field. */
export const parseBody = <Output>(schema: RequestSchema<Output>, body: unknown): Output => {
  if (!isRecord(body) || Array.isArray(body)) {
    throw errors.invalidRequest('The body must be a JSON object.');
  }
  return parse(schema, 'field', body);
};

/** Parses a query. Throws `invalid_request`, which names each wrong and each unknown parameter. */
export const parseQuery = <Output>(schema: RequestSchema<Output>, query: object): Output =>
  parse(schema, 'query parameter', query);

/** Parses the headers that a schema names. Throws `invalid_request`, which names each wrong one. */
export const parseHeaders = <Output>(schema: RequestSchema<Output>, headers: object): Output =>
  parse(schema, 'header', headers);

/** Parses the parameters in a path. Throws `not_found`, because no resource has a path with a wrong one. */
export const parsePath = <Output>(schema: RequestSchema<Output>, path: object): Output => {
  const { success, output } = v.safeParse(schema, path);
  if (!success) throw errors.notFound();
  return output;
};

// Valibot's own messages repeat the input, which may be a secret.
const config = { message: 'is not valid', abortPipeEarly: true };

const parse = <Output>(schema: RequestSchema<Output>, kind: Kind, sent: object): Output => {
  const { success, output, issues = [] } = v.safeParse(schema, sent, config);
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(schema.entries, name));
  if (success && unknown.length === 0) return output;
  const problemOf = (name: unknown, message: string) => {
    // The message of a rule for several fields is a sentence.
    if (name === undefined) return message;
    return `${name} ${Object.hasOwn(sent, `${name}`) ? message : 'is required'}`;
  };
  throw refusal([
    ...issues.map(({ path, message }) => problemOf(path?.[0]?.key, message)),
    ...unknown.map((name) => notKnown(kind, name)),
  ]);
};

import * as v from 'valibot';
import { errors } from './errors.ts';
import { ListPetsQuery } from './list-pets-query.ts';
import { NewPet } from './pet.ts';
import { type Kind, notKnown, refuse } from './refusals.ts';

/** Parses the body of `POST /pets`. Throws `invalid_request`, which names each wrong and each unknown field. */
export const newPetOf = (body: unknown): NewPet => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw errors.invalidRequest('The body must be a JSON object.');
  }
  return parse(NewPet, 'field', body);
};

/** Parses the query of `GET /pets`. Throws `invalid_request`, which names each wrong and each unknown parameter. */
export const listPetsQueryOf = (query: Readonly<Record<string, unknown>>) =>
  parse(ListPetsQuery, 'query parameter', query);

interface RequestSchema<Output> extends v.GenericSchema<unknown, Output> {
  readonly entries: v.ObjectEntries;
}

const parse = <Output>(schema: RequestSchema<Output>, kind: Kind, sent: object): Output => {
  // Valibot's own messages repeat the input, which may be a secret.
  const { success, output, issues = [] } = v.safeParse(schema, sent, { message: 'is not valid' });
  const wrong = new Map(issues.map(({ path, message }) => [`${path?.[0]?.key}`, message]));
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(schema.entries, name));
  refuse([
    ...[...wrong].map(
      ([name, message]) => `${name} ${Object.hasOwn(sent, name) ? message : 'is required'}`,
    ),
    ...unknown.map((name) => notKnown(kind, name)),
  ]);
  if (!success) throw errors.invalidRequest('The request is not valid.');
  return output;
};

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseBody, parseHeaders, parseQuery } from '../../lib/contract/parse-request.ts';
import { operations } from '../../lib/operations/operations.ts';

/** A secret that no field of a request may have as its value. */
const secret = ['pets_live_secret'];

const shapes = operations.flatMap(({ name, input: { query, headers, body } }) => [
  { shape: `the query of ${name}`, schema: query, parse: parseQuery },
  { shape: `the headers of ${name}`, schema: headers, parse: parseHeaders },
  ...(body ? [{ shape: `the body of ${name}`, schema: body, parse: parseBody }] : []),
]);
const shapesWithFields = shapes.filter(({ schema }) => Object.keys(schema.entries).length > 0);

describe.each(shapesWithFields)('$shape', ({ schema, parse }) => {
  it.each(Object.keys(schema.entries))('gets a message of ours when %s is wrong', (name) => {
    const [message] = messageOf(() => parse(schema, { [name]: secret }))
      .split('; ')
      .filter((part) => part.startsWith(`${name} `));
    expect(message).toBeDefined();
    expect(message, `Give ${name} a message`).not.toMatch(/is not valid|secret/);
  });
});

it('a field without a message of ours does not repeat its value', () => {
  const parse = () => parseBody(v.object({ colour: v.number() }), { colour: secret });
  expect(messageOf(parse)).toBe('colour is not valid.');
});

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
};

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseBody, parseHeaders, parseQuery } from '../../lib/contract/parse-request.ts';
import { NewPet } from '../../lib/contract/pet.ts';
import { candidateId, creationOf, fingerprintOf } from '../../lib/idempotency/creation.ts';
import { operations } from '../../lib/operations/operations.ts';
import { newPets } from '../support/new-pets.ts';

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
    expect(message).not.toMatch(/is not valid|secret/);
  });
});

it('a field without a message of ours does not repeat its value', () => {
  const parse = () => parseBody(v.object({ colour: v.number() }), { colour: secret });
  expect(messageOf(parse)).toBe('colour is not valid.');
});

it('a rule for the whole body has its own message', () => {
  const schema = v.pipe(
    v.object({ name: v.optional(v.string()) }),
    v.check(({ name }) => name !== undefined, 'at least one field is required'),
  );
  expect(messageOf(() => parseBody(schema, {}))).toBe('at least one field is required.');
});

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
};

describe('the ids that a creation tries', () => {
  // Another version of the service must find the pet of a repeated request.
  it.each([
    [0, 5913266321295341],
    [1, 7772924811704815],
    [7, 682419006073571],
  ])('are the same in each version: attempt %i', (attempt, id) => {
    const creation = creationOf({ owner: 'alice', key: 'first-pet' });
    expect(candidateId(creation, attempt)).toBe(id);
  });
});

describe('the fingerprint of a creation', () => {
  it('differs exactly when the fields differ', () => {
    fc.assert(
      fc.property(newPets, newPets, (one, other) => {
        const pets = [parseBody(NewPet, one), parseBody(NewPet, other)] as const;
        const [left, right] = pets.map(fingerprintOf);
        expect(left?.equals(right ?? Buffer.alloc(0))).toBe(isDeepStrictEqual(...pets));
      }),
    );
  });

  it('does not change when the schema gets another optional field, or its fields get another order', () => {
    const text = '{"categoryId":9223372036854775807,"name":"Rex","status":"available"}';
    const expected = createHash('sha256').update(text).digest();
    const rex = parseBody(NewPet, { name: 'Rex', categoryId: 2n ** 63n - 1n });
    expect(fingerprintOf(rex)).toEqual(expected);
    const { status, ...others } = rex;
    expect(fingerprintOf({ status, ...others })).toEqual(expected);
  });
});

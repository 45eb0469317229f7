import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { petStatuses } from '../../lib/contract/bodies.ts';
import { decodeCursor, encodeCursor } from '../../lib/pets/cursor.ts';

const status = fc.constantFrom(...petStatuses);
const filter = fc.option(status, { nil: undefined });
const position = fc.record({ status, id: fc.maxSafeNat() });
const character = fc.constantFrom(...'ABCXYZabcxyz0189-_=+/ ~é');
const text = fc.string({ unit: 'binary', maxLength: 64 });

describe('cursor', () => {
  it('has 20 characters that are safe in a URL, and decodes to its position under the same filter', () => {
    fc.assert(
      fc.property(position, filter, (start, list) => {
        const cursor = encodeCursor(start, list);
        expect(cursor).toMatch(/^[\w-]{20}$/);
        expect(decodeCursor(cursor, list)).toEqual(start);
      }),
    );
  });

  it('is refused under any other filter', () => {
    fc.assert(
      fc.property(position, filter, filter, (start, made, used) => {
        fc.pre(made !== used);
        expect(() => decodeCursor(encodeCursor(start, made), used)).toThrow(/^cursor /);
      }),
    );
  });

  it('is refused when a character is changed, added or missing, and when it is any other text', () => {
    fc.assert(
      fc.property(position, filter, fc.nat(19), character, text, (start, list, at, one, other) => {
        const cursor = encodeCursor(start, list);
        const [head, tail] = [cursor.slice(0, at), cursor.slice(at)];
        for (const forged of [head + one + tail.slice(1), head + one + tail, head, other]) {
          if (forged !== cursor) expect(() => decodeCursor(forged, list)).toThrow(/^cursor /);
        }
        expect(() => decodeCursor(head + tail.slice(1), list)).toThrow(/^cursor /);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { petStatuses } from '../../lib/contract/bodies.ts';
import { decodeCursor, encodeCursor } from '../../lib/pets/cursor.ts';

const status = fc.constantFrom(...petStatuses);
const filter = fc.option(status, { nil: undefined });
const position = fc.record({ status, id: fc.maxSafeNat() });

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

  it('is refused when a character is changed, added or missing', () => {
    const character = fc.constantFrom(...'ABCXYZabcxyz0189-_=+/ ~é');
    fc.assert(
      fc.property(position, filter, fc.nat(19), character, (start, list, at, other) => {
        const cursor = encodeCursor(start, list);
        const head = cursor.slice(0, at);
        for (const forged of [
          head + other + cursor.slice(at + 1),
          head + other + cursor.slice(at),
          head + cursor.slice(at + 1),
          head,
        ]) {
          if (forged !== cursor) expect(() => decodeCursor(forged, list)).toThrow(/^cursor /);
        }
      }),
    );
  });

  it('is refused when it is any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 64 }), filter, (text, list) => {
        expect(() => decodeCursor(text, list)).toThrow(/^cursor /);
      }),
    );
  });
});

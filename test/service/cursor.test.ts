import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { petStatuses } from '../../lib/contract/pet.ts';
import { decodeCursor, encodeCursor } from '../../lib/pets/cursor.ts';

const status = fc.constantFrom(...petStatuses);
const filter = fc.record({ status }, { requiredKeys: [] });
const id = fc.option(fc.bigInt().map(String), { nil: undefined });
const position = fc.record({ status, id });
const character = fc.constantFrom(...'ABCXYZabcxyz0189-_=+/ ~é');
const text = fc.string({ unit: 'binary', maxLength: 64 });

describe('cursor', () => {
  it('has only characters that are safe in a URL, and decodes to its position under the same filter', () => {
    fc.assert(
      fc.property(position, filter, (start, list) => {
        const cursor = encodeCursor(start, list);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(decodeCursor(cursor, list)).toEqual(start);
      }),
    );
  });

  it('has no place in the list of statuses, so that a status can be added anywhere in that list', () => {
    expect(decodeCursor('QVdhOtiac29sZCA3OTA1NTMyODcxMzcxMTQy', {})).toEqual({
      id: '7905532871371142',
      status: 'sold',
    });
  });

  it('is refused when only a newer version knows its status', () => {
    const cursor = Reflect.apply(encodeCursor, undefined, [{ id: '1', status: 'lost' }, {}]);
    expect(() => decodeCursor(cursor, {})).toThrow(/^cursor /);
  });

  it('is refused under any other filter', () => {
    fc.assert(
      fc.property(position, filter, filter, (start, made, used) => {
        fc.pre(made.status !== used.status);
        expect(() => decodeCursor(encodeCursor(start, made), used)).toThrow(/^cursor /);
      }),
    );
  });

  it('is refused when a character is changed, added or missing, and when it is any other text', () => {
    fc.assert(
      fc.property(
        position,
        filter,
        fc.nat(100),
        character,
        text,
        (start, list, place, one, other) => {
          const cursor = encodeCursor(start, list);
          const at = place % cursor.length;
          const [head, tail] = [cursor.slice(0, at), cursor.slice(at)];
          for (const forged of [head + one + tail.slice(1), head + one + tail, head, other]) {
            if (forged !== cursor) expect(() => decodeCursor(forged, list)).toThrow(/^cursor /);
          }
          expect(() => decodeCursor(head + tail.slice(1), list)).toThrow(/^cursor /);
        },
      ),
    );
  });
});

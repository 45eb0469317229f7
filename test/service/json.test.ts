import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../lib/contract/exact-json.ts';

describe('exact JSON', () => {
  it('keeps every digit of an integer from reading to writing', () => {
    fc.assert(
      fc.property(fc.bigInt(), (integer) => {
        const text = `{"categoryId":${integer}}`;
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it.each(['1.0', '1e2', '-0', '1e400', '-1e400', '0.10', '9007199254740993.5', '5e-324000'])(
    'reads %s as NaN, because it would be written differently',
    (number) => {
      expect(parseJson(`[${number}]`)).toEqual([Number.NaN]);
    },
  );

  it('reads and writes everything else as JSON.parse and JSON.stringify do', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });
});

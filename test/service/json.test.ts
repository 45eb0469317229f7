import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInt64, parseJson, stringifyJson } from '../../lib/contract/exact-json.ts';

describe('exact JSON', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

  it('keeps every digit of a 64-bit integer from reading to writing', () => {
    fc.assert(
      fc.property(int64, (integer) => {
        const text = `{"categoryId":${integer}}`;
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it('reads an integer with a fraction of zeros as that integer', () => {
    fc.assert(
      fc.property(int64, fc.integer({ min: 1, max: 400 }), (integer, zeros) => {
        const number = parseJson(`${integer}.${'0'.repeat(zeros)}`);
        expect(number).toBe(parseJson(`${integer}`));
        expect(isInt64(number)).toBe(true);
      }),
    );
  });

  it.each(['-0', '0.0', '-0.0', '-0.000'])('reads %s as 0', (zero) => {
    expect(parseJson(`[${zero}]`)).toEqual([0]);
  });

  it.each([
    ...['1e2', '1.0e2', '1e400', '-1e400', '0.10', '9007199254740993.5', '5e-324000'],
    ...['1.0000000000000000001', '9007199254740993.0000000000000000001', '9'.repeat(20)],
  ])('reads %s, which would be written differently, as JSON.parse does or as NaN', (number) => {
    expect(parseJson(`[${number}]`)).toEqual(JSON.parse(`[${number}]`));
    expect(parseJson(`[${number}]`, Number.NaN)).toEqual([Number.NaN]);
  });

  it('reads and writes everything else as JSON.parse and JSON.stringify do', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(stringifyJson(parseJson(text))).toBe(text);
      }),
    );
  });
});

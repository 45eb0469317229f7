/**
 * Returns the integer part of a decimal number, from its digits, such as `11.9` or `1.19E+1`. It is exact
 * below 2^53. Returns NaN for any other text.
 */
export const integerPartOf = (text: string): number => {
  const parts = /^(-?)(\d+)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  if (!parts) return Number.NaN;
  const [, sign, integer = '', fraction = '', exponent = '0'] = parts;
  const length = Math.max(0, integer.length + Number(exponent));
  return Number(`${sign}0${(integer + fraction).slice(0, length).padEnd(length, '0')}`);
};

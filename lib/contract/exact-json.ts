/**
 * What `JSON` has that TypeScript does not declare, by the TC39 proposal "JSON.parse source text access".
 * Older platforms, such as Node.js 20, don't have it. A global declaration would change `JSON.parse` in the
 * programs of the client's users.
 */
interface ExactJson {
  rawJSON?(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown;
}

/** The `JSON` of the platform. */
export const exactJson: ExactJson = JSON;

/**
 * Parses JSON with its numbers as `exactNumber` reads them. A number that it can't read exactly becomes
 * `inexact`, or by default what JSON.parse reads. Throws a SyntaxError for text that is not JSON.
 */
export const parseJson = (text: string, inexact?: number): unknown =>
  exactJson.parse(text, (_key, value, context) =>
    typeof value === 'number' ? exactNumber(context?.source ?? '', inexact ?? value) : value,
  );

/** Matches an integer of at most 19 digits, which every 64-bit integer has, and a fraction of zeros. */
const integer = /^(-?\d{1,19})(?:\.0+)?$/;

/**
 * Reads a number from its text, because `Number` rounds. An integer may have a fraction of zeros (`1.0`), as
 * in JSON Schema. Returns a `bigint` for an unsafe integer. Returns `inexact` for more than 19 digits, an
 * exponent (`1e2`), and any other number that JavaScript would write differently.
 */
export const exactNumber = (text: string, inexact = Number.NaN): number | bigint => {
  const value = Number(text);
  const [, digits] = integer.exec(text) ?? [];
  if (digits === undefined) return String(value) === text ? value : inexact;
  // A `number` has two zeros; `-0` and `0` are one integer.
  return Number.isSafeInteger(value) ? value || 0 : BigInt(digits);
};

/** Writes JSON. A `bigint` becomes a JSON number with all its digits. */
export const stringifyJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch {
    // The value contains a `bigint`, which is rare. A replacer takes several times as long,
    // so other values get none.
    return JSON.stringify(value, exactReplacer);
  }
};

/** A replacer for JSON.stringify, which writes a `bigint` as a JSON number with all its digits. */
export const exactReplacer = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? (exactJson.rawJSON?.(`${value}`) ?? value) : value;

/** A 64-bit signed integer. It is a `number` where that is exact, and otherwise a `bigint`. */
export type Int64 = number | bigint;

/** The smallest and the largest 64-bit signed integer. */
export const int64Bounds = {
  // Not `2n ** 63n`, from which Babel makes `Math.pow`, which throws for a `bigint`.
  minimum: -9_223_372_036_854_775_808n,
  maximum: 9_223_372_036_854_775_807n,
} as const;

/** Tells whether a value is an integer of 64 bits. */
export const isInt64 = (value: unknown): value is Int64 =>
  typeof value === 'bigint'
    ? value >= int64Bounds.minimum && value <= int64Bounds.maximum
    : Number.isSafeInteger(value);

declare global {
  interface JSON {
    /** Defined by the TC39 proposal "JSON.parse source text access". Node.js has it since version 22. */
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Parses JSON without altering a number. Unsafe integers become `bigint`. A number that JavaScript would
 * write differently (`1.0`, `-0`, `1e400`) becomes NaN, which is invalid in every field. Throws a SyntaxError
 * for text that is not JSON.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' ? exactNumber(source) : value,
  );

/** Parses a decimal number. Returns a `bigint` for an unsafe integer, and NaN if neither type is exact. */
export const exactNumber = (digits: string): number | bigint => {
  const value = Number(digits);
  if (!Number.isSafeInteger(value) && /^-?\d+$/.test(digits)) return BigInt(digits);
  return String(value) === digits ? value : Number.NaN;
};

/** Writes JSON. A `bigint` becomes a JSON number with all its digits. */
export const stringifyJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch {
    // The value contains a `bigint`, which is rare. A replacer takes several times as long,
    // so other values get none.
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'bigint' ? JSON.rawJSON(member.toString()) : member,
    );
  }
};

/** A 64-bit signed integer. It is a `number` where that is exact, and otherwise a `bigint`. */
export type Int64 = number | bigint;

/** The smallest and the largest 64-bit signed integer. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

export const isInt64 = (value: unknown): value is Int64 =>
  typeof value === 'bigint'
    ? value >= int64Bounds.minimum && value <= int64Bounds.maximum
    : Number.isSafeInteger(value);

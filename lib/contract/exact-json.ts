declare global {
  interface JSON {
    /** TC39 "JSON.parse source text access", in Node since 22. */
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Reads JSON without altering a number: integers beyond 2^53 become `bigint`, and a number that would come out different
 * from how it was written (`1.0`, `-0`, `1e400`) becomes NaN, which no schema accepts.
 * Throws a SyntaxError for text that is not JSON.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value !== 'number' || source === undefined ? value : exactNumber(source),
  );

/** A number from its decimal digits: a `bigint` for an integer beyond 2^53, NaN where neither type is exact. */
export const exactNumber = (digits: string): number | bigint => {
  const value = Number(digits);
  if (!Number.isSafeInteger(value) && /^-?\d+$/.test(digits)) return BigInt(digits);
  return String(value) === digits ? value : Number.NaN;
};

/** Writes JSON with every `bigint` as the number it is. */
export const stringifyJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch {
    // There is a `bigint`, which is rare: always passing a replacer takes several times as long.
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'bigint' ? JSON.rawJSON(member.toString()) : member,
    );
  }
};

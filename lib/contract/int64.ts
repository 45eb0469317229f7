/** A 64-bit signed integer. It is a `number` where that is exact, and otherwise a `bigint`. */
export type Int64 = number | bigint;

/** The smallest and the largest 64-bit signed integer. */
export const int64Bounds = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;

export const isInt64 = (value: unknown): value is Int64 =>
  typeof value === 'bigint'
    ? value >= int64Bounds.minimum && value <= int64Bounds.maximum
    : Number.isSafeInteger(value);

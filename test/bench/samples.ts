/** What was measured several times. */
export interface Samples {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Throws when nothing was measured. */
export const samplesOf = (values: readonly number[]): Samples => {
  const sorted = values.toSorted((left, right) => left - right);
  const [min, median, max] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  if (min === undefined || median === undefined || max === undefined) {
    throw new Error('Nothing was measured');
  }
  return { median, min, max };
};

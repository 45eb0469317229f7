/** What was measured several times. */
export interface Samples {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

const sorted = (values: readonly number[]) => values.toSorted((left, right) => left - right);

const quantile = (ordered: readonly number[], share: number): number => {
  const value = ordered[Math.round(share * (ordered.length - 1))];
  if (value === undefined) throw new Error('Nothing was measured');
  return value;
};

const resamples = 2_000;

/**
 * The median of the ratios of each round, with its 95 % bootstrap interval as `min` and `max`.
 * The random numbers are the same every time, so one set of measurements has one interval.
 */
export const ratioOf = (
  numerators: readonly number[],
  denominators: readonly number[],
): Samples => {
  const ratios = numerators.map((value, round) => value / (denominators[round] ?? Number.NaN));
  let state = 1;
  const randomIndex = () => {
    // https://en.wikipedia.org/wiki/Lehmer_random_number_generator
    state = (state * 48_271) % 0x7fff_ffff;
    return state % ratios.length;
  };
  const medians = sorted(
    Array.from({ length: resamples }, () =>
      quantile(sorted(ratios.map(() => ratios[randomIndex()] ?? Number.NaN)), 0.5),
    ),
  );
  return {
    median: quantile(sorted(ratios), 0.5),
    min: quantile(medians, 0.025),
    max: quantile(medians, 0.975),
  };
};

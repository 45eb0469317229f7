/**
 * Returns how often a generated test runs: `usual` times with `npm test`, `many` times with `RUNS=many`, and
 * a few times against each mutant.
 */
export const runsOf = (usual: number, many: number): number => {
  const { RUNS } = process.env;
  if (RUNS === 'many') return many;
  return RUNS === 'few' ? Math.ceil(usual / 5) : usual;
};

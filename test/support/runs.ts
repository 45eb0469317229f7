/**
 * How often a generated test runs: some with every `npm test`, many with `RUNS=many`,
 * few against each mutant.
 */
export const runsOf = (usual: number, many: number): number => {
  const { RUNS } = process.env;
  if (RUNS === 'many') return many;
  return RUNS === 'few' ? Math.ceil(usual / 5) : usual;
};

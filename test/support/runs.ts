/** Returns how often a generated test runs: `usual` times with `npm test`, `many` times with `RUNS=many`. */
export const runsOf = (usual: number, many: number): number =>
  process.env['RUNS'] === 'many' ? many : usual;

/** How often a generated test runs: a few times with every `npm test`, and many with `npm run soak`. */
export const runsOf = (usual: number, soaking: number): number =>
  process.env['SOAK'] ? soaking : usual;

/** The processes in which the acceptance tests run at the same time. */
export const acceptanceWorkers = 4;

/**
 * Returns how many requests each process of the acceptance tests may have under way, if Lambda runs `quota`
 * instances at once in the account. A fifth of them stays free for clients and the probe.
 */
export const parallelRequestsFor = (quota: number): number =>
  Math.max(1, Math.floor((quota * 4) / 5 / acceptanceWorkers));

/**
 * The time of a monotonic clock, in ms. The global `performance` would load all of
 * node:perf_hooks at every start.
 */
export const instantMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The time since an instant of `instantMs`, in ms to the hundredth. */
export const elapsedMs = (since: number): number => Math.round((instantMs() - since) * 100) / 100;

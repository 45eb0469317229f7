/**
 * Returns the time of a monotonic clock, in ms. The global `performance` would load all of
 * node:perf_hooks at every start.
 */
export const instantMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Tells whether an instant of `instantMs` has passed. */
export const isPast = (instant: number): boolean => instantMs() >= instant;

/** Returns the time since an instant of `instantMs`, in ms, rounded to hundredths. */
export const elapsedMs = (since: number): number => Math.round((instantMs() - since) * 100) / 100;

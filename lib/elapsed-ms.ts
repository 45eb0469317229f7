/** The time since an instant of `performance.now()`, in ms to the hundredth. */
export const elapsedMs = (since: number): number =>
  Math.round((performance.now() - since) * 100) / 100;

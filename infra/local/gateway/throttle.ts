import type { RestApiMethod } from './rest-api-definition.ts';

/** Tells whether a method may take one more request at a time in ms. Counts the request. */
export type TakesRequest = (
  method: Pick<RestApiMethod, 'method' | 'resourcePath'>,
  now: number,
) => boolean;

/** Returns a check that allows each method this many requests in a second of the clock. */
export const throttleTo = (requestsPerSecond: number): TakesRequest => {
  const counts = new Map<string, number>();
  let current = 0;
  return ({ method, resourcePath }, now) => {
    const second = Math.floor(now / 1_000);
    if (second !== current) counts.clear();
    current = second;
    const name = `${method} ${resourcePath}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count <= requestsPerSecond;
  };
};

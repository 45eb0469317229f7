import type { RestApiMethod } from './rest-api-definition.ts';

/** Tells whether a method may take one more request at a time, in ms since any start. Counts the request. */
export type Throttle = (
  method: Pick<RestApiMethod, 'method' | 'resourcePath'>,
  now: number,
) => boolean;

/**
 * Returns a throttle that gives each method a token bucket, as API Gateway does. A bucket holds as many tokens
 * as it gets in a second.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
export const throttleTo = (requestsPerSecond: number): Throttle => {
  const buckets = new Map<string, { tokens: number; refilledAt: number }>();
  return ({ method, resourcePath }, now) => {
    const name = `${method} ${resourcePath}`;
    const { tokens, refilledAt } = buckets.get(name) ?? {
      tokens: requestsPerSecond,
      refilledAt: now,
    };
    const refill = ((now - refilledAt) / 1_000) * requestsPerSecond;
    const available = Math.min(requestsPerSecond, tokens + refill);
    const isAllowed = available >= 1;
    buckets.set(name, { tokens: isAllowed ? available - 1 : available, refilledAt: now });
    return isAllowed;
  };
};

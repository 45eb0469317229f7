import type { Throttle } from '../../settings/stages.ts';
import type { RestApiMethod } from './rest-api-definition.ts';

interface Bucket {
  tokens: number;
  refilledAt: number;
}

/**
 * The throttles of a stage. Each method has a token bucket, as in API Gateway.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
export class Throttles {
  readonly #throttle: true | number | undefined;
  readonly #buckets = new Map<string, Bucket>();

  /**
   * With `true`, routes have their own throttles. With a number, each route allows that
   * many requests per second.
   */
  constructor(throttle: true | number | undefined) {
    this.#throttle = throttle;
  }

  /**
   * Tells whether a route may take one more request at a time, in ms since any start.
   * If so, counts the request.
   */
  allow(route: Pick<RestApiMethod, 'method' | 'resourcePath' | 'throttle'>, now: number): boolean {
    const throttle = this.#throttleOf(route);
    if (!throttle) return true;
    const name = `${route.method} ${route.resourcePath}`;
    const bucket = this.#buckets.get(name) ?? { tokens: throttle.burst, refilledAt: now };
    this.#buckets.set(name, bucket);
    const refill = ((now - bucket.refilledAt) / 1_000) * throttle.ratePerSecond;
    bucket.tokens = Math.min(throttle.burst, bucket.tokens + refill);
    bucket.refilledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #throttleOf(route: Pick<RestApiMethod, 'throttle'>): Throttle | undefined {
    if (this.#throttle === true) return route.throttle;
    if (this.#throttle === undefined) return undefined;
    return { ratePerSecond: this.#throttle, burst: this.#throttle };
  }
}

/** The headers that web pages may send. */
export const requestHeaders = 'Authorization, Content-Type, Idempotency-Key';

/**
 * Returns headers that let web pages of an origin, or of any origin (`*`), read a response and its headers,
 * except the authentication scheme, without cookies (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */
export const corsHeaders = (origin: string) => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers':
    'Accept, Accept-Encoding, Allow, Deprecation, Idempotent-Replayed, Link, Retry-After, Sunset, X-Stability, x-amz-apigw-id',
});

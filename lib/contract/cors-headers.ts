/**
 * Lets pages of an origin, or of any (`*`), read an answer and the headers in it that are not simple
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). Never with cookies: a request carries its API key itself.
 */
export const corsHeaders = (origin: string) => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers':
    'Allow, Deprecation, ETag, Link, Retry-After, Sunset, x-amzn-RequestId',
});

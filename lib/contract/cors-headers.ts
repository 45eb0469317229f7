/**
 * Returns the headers that let web pages of an origin, or of any origin (`*`), read a response. They also expose response
 * headers that CORS hides by default (https://fetch.spec.whatwg.org/#http-cors-protocol). They do not allow cookies,
 * because requests authenticate with an API key.
 */
export const corsHeaders = (origin: string) => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers':
    'Allow, Deprecation, ETag, Link, Retry-After, Sunset, x-amzn-RequestId',
});

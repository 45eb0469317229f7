import { corsHeaders, requestHeaders } from '../contract/cors-headers.ts';
import { optionalEnvironment } from '../environment.ts';
import type { ChainRequest } from './chain-types.ts';
import { headerValues } from './header-values.ts';

/** The origins whose pages may call the service. The stack sets none where CORS is off. */
const origins = optionalEnvironment('CORS_ORIGINS')?.split(' ') ?? [];

/**
 * Lets pages of the stage's origins read every response, including errors. Responds to preflight requests.
 */
export const cors = () => {
  const addHeaders = ({ event, response }: ChainRequest) => {
    if (!response || origins.length === 0) return;
    response.headers = { ...response.headers, Vary: 'Origin' };
    const [origin] = headerValues(event, 'origin');
    if (!origin || !origins.includes(origin)) return;
    Object.assign(response.headers, corsHeaders(origin));
    const allow = response.headers['Allow'];
    // By a preflight request, a browser asks what a page may send
    // (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
    const isPreflight =
      event.httpMethod === 'OPTIONS' &&
      headerValues(event, 'access-control-request-method').length > 0;
    if (allow && isPreflight) {
      Object.assign(response.headers, {
        'Access-Control-Allow-Methods': allow,
        'Access-Control-Allow-Headers': requestHeaders,
        // Chromium accepts at most 7200 seconds.
        'Access-Control-Max-Age': '7200',
      });
    }
  };
  return { after: addHeaders, onError: addHeaders };
};

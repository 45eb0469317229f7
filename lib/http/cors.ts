import { corsHeaders } from '../contract/cors-headers.ts';
import { headerValues } from './header-values.ts';
import type { ChainRequest } from './operation-request.ts';

/** The origins whose pages may call the service; the stack sets none where CORS is off. */
const origins = process.env['CORS_ORIGINS']?.split(' ') ?? [];

/** Lets pages of the stage's origins read every response, errors too, and answers preflight requests. */
export const cors = () => {
  const addHeaders = (request: ChainRequest) => {
    const { event, response } = request;
    if (!response || origins.length === 0) return;
    const [origin] = headerValues(event, 'origin');
    response.headers = {
      ...response.headers,
      Vary: 'Origin',
      ...(origin &&
        origins.includes(origin) && { ...corsHeaders(origin), ...preflightHeaders(request) }),
    };
  };
  return { after: addHeaders, onError: addHeaders };
};

/** The headers of a preflight response (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
const preflightHeaders = ({ event, response }: ChainRequest) => {
  const allow = response?.headers?.['Allow'];
  const isPreflight =
    event.httpMethod === 'OPTIONS' &&
    headerValues(event, 'access-control-request-method').length > 0;
  return (
    isPreflight &&
    allow && {
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key',
      // In seconds; Chromium's maximum.
      'Access-Control-Max-Age': '7200',
    }
  );
};

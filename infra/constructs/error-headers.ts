import { corsHeaders } from '../../lib/contract/cors-headers.ts';
import type { ApiError } from '../../lib/contract/errors.ts';
import type { Stage } from '../stages.ts';

/**
 * The headers of an error that API Gateway or the firewall answers by itself. They are the same for every
 * request: with several origins, pages of any origin can read them. They hold nothing secret.
 */
export const errorHeaders = (
  { corsOrigins: [origin, ...others] }: Stage,
  error: ApiError,
): Readonly<Record<string, string>> => ({
  'Cache-Control': 'no-store',
  ...(origin && corsHeaders(others.length === 0 ? origin : '*')),
  ...error.headers,
});

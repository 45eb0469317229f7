import { corsHeaders } from '../../lib/contract/cors-headers.ts';
import type { ApiError } from '../../lib/contract/errors.ts';
import type { Stage } from '../stages.ts';

/**
 * The headers of an error that no function answers but API Gateway or the firewall. They are the same for every request,
 * so pages of several origins can read them only if pages of all can; they tell nothing but what anyone may know.
 */
export const errorHeaders = (
  { corsOrigins: [origin, ...others] }: Stage,
  error: ApiError,
): Readonly<Record<string, string>> => ({
  'Cache-Control': 'no-store',
  ...(origin && corsHeaders(others.length === 0 ? origin : '*')),
  ...error.headers,
});

import { corsHeaders } from '../../lib/contract/cors-headers.ts';
import type { ApiError } from '../../lib/contract/errors.ts';
import type { Stage } from '../settings/stages.ts';

/**
 * Returns the headers of an error with which API Gateway or the firewall itself responds. They are the same
 * for every request: if the stage has several origins, pages of any origin can read the error. The error
 * contains nothing secret.
 */
export const errorHeaders = (
  { corsOrigins: [origin, ...others] }: Stage,
  error: ApiError,
): Readonly<Record<string, string>> => ({
  'Cache-Control': 'no-store',
  ...(origin && corsHeaders(others.length === 0 ? origin : '*')),
  ...error.headers,
});

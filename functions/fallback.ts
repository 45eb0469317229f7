import { errors } from '../lib/contract/errors.ts';
import { allowedMethods } from '../lib/contract/routes.ts';
import { chain } from '../lib/http/chain.ts';
import { errorResponses } from '../lib/http/error-responses.ts';
import { noContent } from '../lib/http/response.ts';

/**
 * Handles every request that no operation handles, without an API key. Returns 404 for an unknown path. On
 * the path of an operation, returns 204 for OPTIONS and 405 for every other method.
 */
export const handler = chain('fallback')
  .use(errorResponses())
  .handler(async ({ httpMethod, resource }) => {
    const allowed = allowedMethods(resource);
    if (allowed.length === 0) throw errors.unknownPath();
    if (httpMethod !== 'OPTIONS') throw errors.methodNotAllowed(allowed);
    return noContent({ Allow: allowed.join(', ') });
  });

import { errors } from '../lib/http/api-error.ts';
import { chain } from '../lib/http/chain.ts';
import { errorResponses } from '../lib/http/error-responses.ts';
import { operations } from '../lib/operations.ts';

/** Every path and method that no operation has, open to strangers: 405 on an operation's path, else 404. */
export const handler = chain('unrouted')
  .use(errorResponses())
  .handler(async ({ resource }) => {
    const allowed = operations.filter(({ path }) => path === resource).map(({ method }) => method);
    throw allowed.length > 0 ? errors.methodNotAllowed(allowed) : errors.notFound();
  });

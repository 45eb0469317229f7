import { errors } from '../lib/http/api-error.ts';
import { openRoute } from '../lib/http/open-route.ts';
import { operations } from '../lib/operations.ts';

/** Every path and method that no operation has: 405 on an operation's path, else 404. */
export const handler = openRoute('unrouted').handler(async ({ resource }) => {
  const allowed = operations.filter(({ path }) => path === resource).map(({ method }) => method);
  throw allowed.length > 0 ? errors.methodNotAllowed(allowed) : errors.notFound();
});

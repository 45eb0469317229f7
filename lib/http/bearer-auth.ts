import { errors } from '../contract/errors.ts';
import { authenticate } from '../keys/authenticate.ts';
import type { RequestWith } from './chain-types.ts';
import type { Deadline } from './deadline.ts';
import { headerValues } from './header-values.ts';

/** What the middleware adds to the context. */
export interface Authenticated {
  /** The owner of the request's API key. */
  owner: string;
}

/**
 * Requires one valid API key as `Authorization: Bearer` (RFC 6750), and sets `context.owner` and
 * `context.keyId`. Throws `unauthorized`.
 */
export const bearerAuth = () => ({
  before: async ({ event, context }: RequestWith<Authenticated & Deadline>) => {
    const [credentials, ...others] = headerValues(event, 'authorization');
    const apiKey = credentials?.match(/^bearer +([^ ]+) *$/i)?.[1];
    const key = apiKey && others.length === 0 ? await authenticate(apiKey, context) : undefined;
    if (!key) throw errors.unauthorized();
    context.owner = key.owner;
    context.keyId = key.keyId;
  },
});

import { errors } from '../contract/errors.ts';
import { authenticate } from '../keys/authenticate.ts';
import { headerValues, type OperationRequest } from './request.ts';

/**
 * Requires one valid API key as `Authorization: Bearer` (RFC 6750), and sets `context.owner` and
 * `context.keyId`. Throws `unauthorized`.
 */
export const bearerAuth = () => ({
  before: async ({ event, context }: OperationRequest) => {
    const [credentials, ...others] = headerValues(event, 'authorization');
    const apiKey = credentials?.match(/^bearer +([^ ]+) *$/i)?.[1];
    const record = apiKey && others.length === 0 ? await authenticate(apiKey, context) : undefined;
    if (!record) throw errors.unauthorized();
    context.owner = record.owner;
    context.keyId = record.keyId;
  },
});

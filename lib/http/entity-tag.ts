import { createHash } from 'node:crypto';
import { headerValues } from './header-values.ts';
import type { OperationRequest } from './operation-request.ts';

/**
 * Gives what was found its strong entity tag (RFC 9110 §8.8.3), and answers 304 without a body to a request whose
 * `If-None-Match` names it (§13.1.2).
 */
export const entityTag = () => ({
  after: ({ event, response }: OperationRequest) => {
    if (!response) return;
    const tag = `"${createHash('sha256').update(response.body).digest('base64url')}"`;
    response.headers = { ...response.headers, ETag: tag };
    if (!names(headerValues(event, 'if-none-match').join(), tag)) return;
    response.statusCode = 304;
    response.body = '';
  },
});

/** Compares weakly: `W/` before a tag makes no difference. */
const names = (condition: string, tag: string) =>
  condition.trim() === '*' || condition.match(/"[^"]*"/g)?.includes(tag);

import { hash } from 'node:crypto';
import { headerValues } from './header-values.ts';
import type { ChainRequest } from './operation-request.ts';

/** Adds the strong entity tag of the body (RFC 9110 §8.8.3). Responds with 304 and no body if `If-None-Match` names it (§13.1.2). */
export const entityTag = () => ({
  after: ({ event, response }: ChainRequest) => {
    if (!response) return;
    const tag = `"${hash('sha256', response.body, 'base64url')}"`;
    response.headers = { ...response.headers, ETag: tag };
    const conditions = headerValues(event, 'if-none-match');
    if (conditions.length === 0 || !names(conditions.join(), tag)) return;
    response.statusCode = 304;
    response.body = '';
  },
});

/** Compares weakly: `W/` before a tag makes no difference. */
const names = (condition: string, tag: string) =>
  condition.trim() === '*' || condition.match(/"[^"]*"/g)?.includes(tag);

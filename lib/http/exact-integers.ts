import { parseJson } from '../contract/exact-json.ts';
import { notJson } from './error-responses.ts';
import type { BodyRequest } from './operation-request.ts';

/**
 * Parses the body again, because Middy's parser rounds large integers. Throws
 * `invalid_request` for too deep nesting.
 */
export const exactIntegers = () => ({
  before: ({ event, internal }: BodyRequest) => {
    try {
      event.body = parseJson(internal.bodyText);
    } catch {
      throw notJson();
    }
  },
});
